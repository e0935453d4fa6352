import { errorBody, isErrorCode, type Answer, type ErrorBody } from '#contract';

export type Outcome<T> = { ok: true; data: T } | { ok: false; error: ErrorBody };

/** The daemon's answer. It was made by our own code of the same protocol, so only its frame is looked at. */
export function outcomeOf<T>(body: unknown): Outcome<T> {
  if (typeof body !== 'object' || body === null) return { ok: false, error: strange() };
  const answer = body as Partial<Answer<T>>;
  if (answer.ok === true && 'data' in answer) return { ok: true, data: answer.data as T };
  const error = answer.ok === false ? answer.error : undefined;
  return { ok: false, error: error && isErrorCode(error.code) ? error : strange(error?.message) };
}

function strange(message?: string): ErrorBody {
  return errorBody('CMO_E_DAEMON', message ?? 'the daemon answered something that was not understood', { fix: 'cmo and its daemon may be of different versions: `cmo down`, then `cmo up`' });
}
