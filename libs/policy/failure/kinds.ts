import type { FailureClass } from '#contract';
import type { VendorCli } from './facts.js';

/**
 * The vendors' machine words, in snake case: `assistant.error`, `api_error_type`, `terminal_reason` and `subtype` of
 * claude; `codex_error_info` of the session file, `type` and `code` of an error body of codex. Words that leave the
 * class open (`unknown`, `other`, `api_error`, `invalid_request_error`, `rate_limit` which both limits carry) are not
 * here on purpose: the sentence or the status decides then, and only where neither does, OPEN_KINDS.
 */
const KINDS: Record<VendorCli, Record<string, FailureClass>> = {
  claude: {
    authentication_failed: 'auth',
    authentication_error: 'auth',
    permission_error: 'auth',
    oauth_org_not_allowed: 'auth',
    account_on_hold: 'auth',
    cloud_credential_error: 'auth',
    // The subscription has no credit balance: this says that a key bills.
    billing_error: 'auth',
    overloaded: 'overloaded',
    overloaded_error: 'overloaded',
    model_not_found: 'model_unavailable',
    max_output_tokens: 'deterministic',
    prompt_too_long: 'deterministic',
    request_too_large: 'deterministic',
    max_turns: 'deterministic',
    error_max_turns: 'deterministic',
    budget_exhausted: 'deterministic',
    error_max_budget_usd: 'deterministic',
    error_max_structured_output_retries: 'schema',
    aborted_tools: 'killed',
    aborted_streaming: 'killed',
    connection_failed: 'transient',
    timeout_error: 'transient',
    refusal: 'content_refused',
  },
  codex: {
    usage_limit_exceeded: 'usage_limit',
    usage_limit_reached: 'usage_limit',
    insufficient_quota: 'usage_limit',
    usage_not_included: 'auth',
    unauthorized: 'auth',
    context_window_exceeded: 'deterministic',
    context_length_exceeded: 'deterministic',
    session_budget_exceeded: 'deterministic',
    bad_request: 'deterministic',
    invalid_json_schema: 'deterministic',
    model_not_found: 'model_unavailable',
    server_overloaded: 'overloaded',
    server_is_overloaded: 'overloaded',
    slow_down: 'overloaded',
    internal_server_error: 'transient',
    server_error: 'transient',
    rate_limit_exceeded: 'rate_limit',
    cyber_policy: 'content_refused',
    invalid_prompt: 'content_refused',
    content_policy_violation: 'content_refused',
    content_filter: 'content_refused',
    sandbox_error: 'environment',
  },
};

const OPEN_KINDS: Record<string, FailureClass> = {
  rate_limit: 'rate_limit',
  rate_limit_error: 'rate_limit',
  not_found_error: 'model_unavailable',
  invalid_request: 'deterministic',
  invalid_request_error: 'deterministic',
};

/** Words that name what failed on the way; their status says more, else it was the connection. */
const ON_THE_WAY = new Set([
  'http_connection_failed',
  'response_stream_connection_failed',
  'response_stream_disconnected',
  'response_too_many_failed_attempts',
]);

export function kindClass(kinds: readonly string[], cli: VendorCli): FailureClass | null {
  return firstIn(KINDS[cli], kinds);
}

/** The words that say little: what is left when neither a sentence nor a status was understood. */
export function openKindClass(kinds: readonly string[]): FailureClass | null {
  return firstIn(OPEN_KINDS, kinds);
}

function firstIn(table: Record<string, FailureClass>, kinds: readonly string[]): FailureClass | null {
  const known = kinds.find((kind) => Object.hasOwn(table, kind));
  return known === undefined ? null : (table[known] ?? null);
}

export function brokeOnTheWay(kinds: readonly string[]): boolean {
  return kinds.some((kind) => ON_THE_WAY.has(kind));
}

/** Status alone: what is left when neither a machine word nor a sentence was understood. */
export function statusClass(status: number | null): FailureClass | null {
  if (status === null) return null;
  if (status === 429) return 'rate_limit';
  if (status === 401 || status === 402 || status === 403) return 'auth';
  if (status === 404) return 'model_unavailable';
  if (status === 408 || status === 409 || status === 425) return 'transient';
  if (status === 529) return 'overloaded';
  if (status >= 500 && status <= 599) return 'transient';
  return status >= 400 && status <= 499 ? 'deterministic' : null;
}
