import { existsSync } from 'node:fs';
import { CmoError, DISPATCH_ID, errorBody } from '#contract';
import type { Context } from '../command.js';

/**
 * Whether there can be anything on record here. Asking a fresh box what it has must not start a daemon on it; with a
 * Redis of the person's own only that Redis knows.
 */
export async function hasRecords({ env, paths }: Context): Promise<boolean> {
  if (existsSync(paths.redis) || existsSync(paths.apiSocket)) return true;
  const { loadConfig, processOptions } = await import('#config/load');
  const loaded = loadConfig(processOptions(env));
  return loaded.ok && loaded.config.redisUrl !== null;
}

/**
 * Ids as they were typed; one that is none, or a box without any record, is refused before anything is asked or
 * started.
 */
export async function idsOf(words: readonly string[], context: Context): Promise<string[]> {
  for (const word of words) {
    if (!DISPATCH_ID.test(word))
      throw new CmoError(
        errorBody('CMO_E_UNKNOWN_VALUE', `that is no dispatch id: ${JSON.stringify(word.slice(0, 80))}`, {
          details: ['allowed: d- and 26 characters, as run, submit and ls print it'],
          fix: '`cmo ls` lists what is on record',
        }),
      );
  }
  const [first] = words;
  if (first !== undefined && !(await hasRecords(context)))
    throw new CmoError(errorBody('CMO_E_NO_DISPATCH', `no dispatch ${first}: nothing is on record here`));
  return [...new Set(words)];
}

/** For commands that take either ids or a batch. */
export function someWords(words: readonly string[], command: string): readonly string[] {
  if (words.length === 0)
    throw new CmoError(
      errorBody('CMO_E_UNKNOWN_VALUE', `cmo ${command}: saw nothing after it; allowed: ID, or --batch NAME`, {
        fix: `see \`cmo help ${command}\``,
      }),
    );
  return words;
}

export function alone(batch: string, words: readonly string[]): string {
  if (words.length > 0)
    throw new CmoError(
      errorBody('CMO_E_UNSATISFIABLE', `ids and --batch ${batch} together`, { fix: 'say one of them' }),
    );
  return batch;
}
