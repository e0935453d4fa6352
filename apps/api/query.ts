import { BOUNDS, DISPATCH_ID, errorBody } from '#contract';
import { refuse } from './answers.js';
import { refusal, unknownKey, wrong, wrongWord } from './problems.js';

/**
 * Reading a query string. Fastify's parser makes an object without prototype, so a key from outside finds nothing but
 * itself.
 */
type Query = Record<string, unknown>;

export function refuseUnknownKeys(query: Query, allowed: readonly string[]): void {
  const problems = Object.keys(query)
    .filter((key) => !allowed.includes(key))
    .map((key) => unknownKey('', key, allowed));
  if (problems.length > 0) refuse(refusal(problems));
}

export function dispatchIdOf(id: string): string {
  if (!DISPATCH_ID.test(id))
    refuse(errorBody('CMO_E_NO_DISPATCH', `${JSON.stringify(id.slice(0, 64))} is not the id of a dispatch`));
  return id;
}

export function wholeOf(query: Query, key: string, bounds: { default: number; min: number; max: number }): number {
  const seen = query[key];
  if (seen === undefined) return bounds.default;
  const value = typeof seen === 'string' && /^[0-9]{1,15}$/.test(seen) ? Number(seen) : NaN;
  if (!(value >= bounds.min && value <= bounds.max))
    refuse(refusal([wrong('', key, seen, `a whole number from ${bounds.min} to ${bounds.max}`)]));
  return value;
}

export function wordOf(query: Query, key: string): string | undefined {
  const seen = query[key];
  if (seen === undefined) return undefined;
  if (typeof seen !== 'string' || seen === '' || seen.length > BOUNDS.word)
    refuse(refusal([wrong('', key, seen, 'one word')]));
  return seen;
}

/** A list with commas, each of the allowed words. */
export function wordsOf(query: Query, key: string, allowed: readonly string[]): string[] | undefined {
  const seen = wordOf(query, key);
  if (seen === undefined) return undefined;
  const words = seen.split(',');
  const problems = words.filter((word) => !allowed.includes(word)).map((word) => wrongWord('', key, word, allowed));
  if (problems.length > 0) refuse(refusal(problems));
  return words;
}
