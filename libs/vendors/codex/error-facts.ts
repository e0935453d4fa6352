import { plainText, type Channel } from '#policy/failure/index';
import { isObject, member, numberOf, parseJson, snakeCase, textOf } from '../json.js';

/** During its own retries the CLI prints these as `error` lines: they are neither final nor progress. */
const RETRYING = /^\s*(?:re-?connecting\b|stream error:.*\bretrying \d+\/\d+)/i;

export function isRetrying(message: string): boolean {
  return RETRYING.test(message);
}

/** The vendor refused: an error line with 429, whether the CLI means to retry or not. */
export function isRefusal(message: string): boolean {
  return /(?<![\w.-])429(?![\w.-])|\btoo many requests\b/i.test(message);
}

/**
 * The failure channel: the message of the last error, which may be a raw JSON body, and the kind that the session file
 * has for it. The kind is a word, or an object of one word and an HTTP status.
 */
export function codexChannel(
  standing: Exclude<Channel['standing'], 'none'>,
  message: string,
  sessionError: unknown,
  now: number,
): Channel {
  const detail = isRetrying(message) ? (/\((.*)\)\s*$/s.exec(message)?.[1] ?? message) : message;
  const info = infoOf(sessionError);
  const body = bodyOf(detail);
  return {
    standing,
    words: body.message === null ? [detail] : [body.message, detail],
    kinds: [...info.kinds, ...body.kinds],
    status: info.status ?? body.status ?? statusIn(plainText(detail)),
    resetsAt: body.resetsAt ?? (body.resetsInMs === null ? null : now + body.resetsInMs),
    rejected: null,
  };
}

function infoOf(info: unknown): { kinds: string[]; status: number | null } {
  if (typeof info === 'string') return { kinds: [snakeCase(info)], status: null };
  const [entry] = isObject(info) ? Object.entries(info) : [];
  if (!entry) return { kinds: [], status: null };
  const [kind, value] = entry;
  return {
    kinds: [snakeCase(kind)],
    status: numberOf(member(value, 'http_status_code')) ?? numberOf(member(value, 'httpStatusCode')),
  };
}

type Body = {
  message: string | null;
  kinds: string[];
  status: number | null;
  resetsAt: number | null;
  resetsInMs: number | null;
};

/**
 * `{"error":{"type","code","message",…},"status"}`, bare or after a prefix ("unexpected status 400 Bad Request: {…}").
 */
function bodyOf(text: string): Body {
  const none: Body = { message: null, kinds: [], status: null, resetsAt: null, resetsInMs: null };
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  const parsed = start >= 0 && end > start ? parseJson(text.slice(start, end + 1)) : ({ ok: false } as const);
  if (!parsed.ok || !isObject(parsed.value)) return none;
  const inner = member(parsed.value, 'error');
  const error = isObject(inner) ? inner : parsed.value;
  const seconds = numberOf(error['resets_in_seconds']);
  const epoch = numberOf(error['resets_at']);
  return {
    message: textOf(error['message']) ?? textOf(inner),
    kinds: [textOf(error['code']), textOf(error['type'])].filter((kind) => kind !== null).map(snakeCase),
    status: numberOf(member(parsed.value, 'status')) ?? numberOf(member(parsed.value, 'status_code')),
    resetsAt: epoch === null ? null : epoch * (epoch > 1e11 ? 1 : 1000),
    resetsInMs: seconds === null ? null : seconds * 1000,
  };
}

function statusIn(text: string): number | null {
  const match = /\b(?:unexpected |last )?status:? (\d{3})\b/i.exec(text);
  return match ? Number(match[1]) : null;
}
