import { CmoError, nearest } from '#contract';
import { quoted, wrongValues } from './parse.js';

/**
 * The one of `allowed` that was typed. For words that flags can't check: a command's first word, or a lane, which only
 * the configuration knows.
 * @param place what it was typed at, as the refusal names it (default: the command)
 * @throws CmoError CMO_E_UNKNOWN_VALUE, with what is allowed and what was probably meant
 */
export function oneOf<T extends string>(
  allowed: readonly T[],
  typed: string,
  { command, place = `cmo ${command}` }: { command: string; place?: string },
): T {
  const found = allowed.find((one) => one === typed);
  if (found !== undefined) return found;
  const wrong = { flag: place, seen: quoted(typed), allowed: allowed.join(', '), nearest: nearest(typed, allowed) };
  throw new CmoError(wrongValues(command, [wrong]));
}
