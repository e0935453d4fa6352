import { finite, members, parseJson, words } from './json.js';
import { dark, type Dark } from './reading.js';

export type UsageAnswer = {
  /** 0 when there was no answer at all. */
  httpStatus: number;
  headers?: Record<string, unknown>;
  /** The text, or what it stands for. */
  body: unknown;
};

export function headerOf(headers: UsageAnswer['headers'], name: string): unknown {
  return Object.entries(headers ?? {}).find(([one]) => one.toLowerCase() === name)?.[1];
}

/**
 * The endpoint is known to answer 429 with `retry-after: 0` for hours: never ask again sooner, nor wait longer than an
 * hour on its word.
 */
const SOONEST_MS = 60_000;
const LATEST_MS = 60 * 60_000;

/**
 * Why an answer holds no reading; null when it may hold one. A throttled meter is not a closed account, and a forbidden
 * one (a setup-token login) can still run agents.
 */
export function darkAnswer(answer: UsageAnswer, now: number): Dark | null {
  const { httpStatus: status } = answer;
  const error = errorOf(answer.body);
  // A gateway may wrap the vendor's error in a 200.
  const kind = status >= 200 && status < 300 ? error?.type : undefined;
  if (status === 401 || kind === 'authentication_error') return unauthorised(error?.message ?? '');
  if (status === 403 || kind === 'permission_error')
    return dark(
      'forbidden',
      'This login may not read its usage (a setup-token login cannot); it may still run agents.',
      LATEST_MS,
    );
  if (status === 429 || kind === 'rate_limit_error')
    return dark(
      'throttled',
      'The usage endpoint throttles the meter; the account itself is not affected.',
      retryAfter(answer, now),
    );
  if (kind === 'api_error' || kind === 'overloaded_error')
    return dark('server_error', 'The usage endpoint has an error of its own.', retryAfter(answer, now));
  if (status >= 200 && status < 300) return null;
  return dark(
    'server_error',
    status > 0 ? `The usage endpoint answered HTTP ${status}.` : 'The usage endpoint could not be reached.',
    retryAfter(answer, now),
  );
}

/** A lapsed token is worth one bounded repair, a revoked one is not. When it isn't said which, one repair shows it. */
function unauthorised(message: string): Dark {
  const revoked = /invalid|revoked|malformed|not valid|disabled/i.test(message) && !/expired/i.test(message);
  return revoked
    ? dark('auth_invalid', 'The login was revoked or is not valid: log in again.', LATEST_MS)
    : dark('auth_expired', 'The login token has lapsed; the last reading stays, with its age.', SOONEST_MS);
}

function errorOf(body: unknown): { type: string | undefined; message: string } | null {
  const whole = members(typeof body === 'string' ? parseJson(body) : body);
  const error = members(whole?.['error']);
  return error ? { type: words(error['type']) ?? undefined, message: words(error['message']) ?? '' } : null;
}

function retryAfter({ headers }: UsageAnswer, now: number): number {
  const entry = headerOf(headers, 'retry-after');
  const seconds = finite(entry);
  const until = typeof entry === 'string' && /GMT$/.test(entry) ? Date.parse(entry) - now : Number.NaN;
  const asked = seconds !== null ? seconds * 1000 : until;
  return Number.isFinite(asked) ? Math.min(LATEST_MS, Math.max(SOONEST_MS, asked)) : SOONEST_MS;
}
