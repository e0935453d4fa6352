import { errorBody, ERRORS, isErrorCode, type Answer, type ErrorBody } from '#contract';

/** `again`: the same question may be answered in a moment. */
export type Outcome<T> = { ok: true; data: T } | { ok: false; error: ErrorBody; again?: true };

/** The daemon's answer. It was made by our own code of the same protocol, so only its frame is looked at. */
export function outcomeOf<T>(body: unknown): Outcome<T> {
  if (typeof body !== 'object' || body === null) return { ok: false, error: strange() };
  const answer = body as Partial<Answer<T>>;
  if (answer.ok === true && 'data' in answer) return { ok: true, data: answer.data as T };
  const error = answer.ok === false ? answer.error : undefined;
  if (!error || !isErrorCode(error.code)) return { ok: false, error: strange(error?.message) };
  const { http, retry } = ERRORS[error.code];
  return http === 503 && retry === 'later' ? { ok: false, error, again: true } : { ok: false, error };
}

function strange(message?: string): ErrorBody {
  return errorBody('CMO_E_DAEMON', message ?? 'the daemon answered something that was not understood', {
    fix: 'cmo and its daemon may be of different versions: `cmo down`, then `cmo up`',
  });
}
