import { SILENT_CHANNEL, type Channel, type RejectedWindow } from '#policy/failure/index';
import { isObject, listOf, member, numberOf, snakeCase, textOf, type JsonObject } from '../json.js';

/**
 * The assistant line that the CLI makes up itself when the API refused: model `<synthetic>`, an `error` word, the
 * sentence as text.
 */
export type SyntheticError = { kind: string | null; type: string | null; status: number | null; words: string };

/** The last `api_retry` that nothing but waiting followed. */
export type Retry = { status: number | null; kind: string | null };

export function retryOf(event: JsonObject): Retry {
  return { status: numberOf(event['error_status']), kind: textOf(event['error']) };
}

export function isRefusal(retry: Retry): boolean {
  return retry.status === 429 || retry.kind === 'rate_limit';
}

export function retryWords({ status, kind }: Retry): string {
  return `api_retry: ${kind ?? 'unknown'}${status === null ? '' : ` (status ${String(status)})`}`;
}

export function syntheticError(event: JsonObject, text: string): SyntheticError | null {
  const kind = textOf(event['error']);
  if (kind === null && event['is_api_error_message'] !== true) return null;
  return {
    kind,
    type: textOf(event['api_error_type']) ?? textOf(event['api_error']),
    status: numberOf(event['api_error_status']),
    words: text,
  };
}

/** An API error body printed as a line of its own: `{"type":"error","error":{"type","message"}}`. */
export function rawError(event: JsonObject): SyntheticError {
  const error = event['error'];
  return {
    kind: null,
    type: textOf(member(error, 'type')),
    status: numberOf(event['status']),
    words: textOf(member(error, 'message')) ?? textOf(error) ?? textOf(event['message']) ?? '',
  };
}

/** The failure channel of a result event that is an error. `subtype` says "success" on most of them. */
export function failedResult(result: JsonObject, synthetic: SyntheticError | null, limit: unknown): Channel {
  const subtype = textOf(result['subtype']);
  // A refusal that is no error has the model's own words for its text: they are no evidence of anything else.
  const ownWords = result['stop_reason'] === 'refusal' && result['is_error'] === false;
  const words = [
    ownWords ? null : textOf(result['result']),
    ...listOf(result['errors']).map(errorWords),
    synthetic?.words ?? null,
  ].filter((text) => text !== null && text.trim() !== '') as string[];
  const kinds = [
    synthetic?.kind,
    textOf(result['api_error_type']),
    textOf(result['api_error']),
    synthetic?.type,
    subtype === 'success' ? null : subtype,
    textOf(result['terminal_reason']),
    textOf(result['stop_reason']),
  ];
  return {
    standing: 'final',
    words,
    kinds: kinds.filter((kind) => kind !== null && kind !== undefined).map(snakeCase),
    status: numberOf(result['api_error_status']) ?? synthetic?.status ?? statusIn(words),
    resetsAt: null,
    rejected: rejectedWindow(limit),
  };
}

/** What was said although no result event followed: the run was cut. */
export function unfinishedChannel(synthetic: SyntheticError | null, retry: Retry | null, limit: unknown): Channel {
  const rejected = rejectedWindow(limit);
  if (synthetic) {
    const kinds = [synthetic.kind, synthetic.type].filter((kind) => kind !== null).map(snakeCase);
    return {
      standing: 'pending',
      words: [synthetic.words],
      kinds,
      status: synthetic.status ?? statusIn([synthetic.words]),
      resetsAt: null,
      rejected,
    };
  }
  if (retry)
    return {
      standing: 'retrying',
      words: [retryWords(retry)],
      kinds: retry.kind === null ? [] : [snakeCase(retry.kind)],
      status: retry.status,
      resetsAt: null,
      rejected,
    };
  return rejected ? { ...SILENT_CHANNEL, standing: 'pending', rejected } : SILENT_CHANNEL;
}

/**
 * The window that a `rate_limit_event` calls rejected; of several the one that opens last. Its times are epoch seconds.
 */
export function rejectedWindow(info: unknown): RejectedWindow | null {
  if (member(info, 'status') !== 'rejected') return null;
  const windows = member(info, 'unifiedWindows');
  const named = isObject(windows)
    ? Object.entries(windows).filter(([, window]) => member(window, 'status') === 'rejected')
    : [];
  const found: RejectedWindow[] = named.map(([type, window]) => ({
    type,
    resetsAt: epochMs(member(window, 'resetsAt')),
  }));
  found.push({ type: textOf(member(info, 'rateLimitType')), resetsAt: epochMs(member(info, 'resetsAt')) });
  return found.reduce((last, next) =>
    (next.resetsAt ?? 0) > (last.resetsAt ?? 0) || (last.type === null && last.resetsAt === null) ? next : last,
  );
}

function epochMs(value: unknown): number | null {
  const number = numberOf(value);
  if (number === null || number <= 0) return null;
  return number > 1e11 ? number : number * 1000;
}

/** Old generations say the status in the sentence only: "API Error: 529 …", "Request rejected (429)". */
function statusIn(words: string[]): number | null {
  const match = /\bapi error:? (\d{3})\b|\brejected \((\d{3})\)/i.exec(words.join('\n'));
  return match ? Number(match[1] ?? match[2]) : null;
}

function errorWords(error: unknown): string | null {
  return textOf(error) ?? textOf(member(error, 'message'));
}
