import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LimitsData, MetersFile } from '#contract';

export const METERS_FILE = 'meters.json';

const LEAST_MS = 1_000;
/** Unchanged, it is still written now and then: a reader takes its age for the daemon's. */
const MOST_MS = 60_000;

/**
 * meters.json in the state folder: what a start of `cmo` reads in place of asking anybody. Put in place by a rename, so
 * that no reader sees half of it; written when something changed, at most once a second.
 */
export function metersFile(stateDir: string, clock: () => number): { offer(data: LimitsData): Promise<void> } {
  const path = join(stateDir, METERS_FILE);
  let last = { text: '', at: Number.NEGATIVE_INFINITY };
  return {
    async offer(data) {
      const text = JSON.stringify({ ...data, writtenAt: '' });
      const age = clock() - last.at;
      if (age >= 0 && (age < LEAST_MS || (text === last.text && age < MOST_MS))) return;
      last = { text, at: clock() };
      const file: MetersFile = { schema: 'cmo.meters/1', ...data };
      const temporary = `${path}.${process.pid}.tmp`;
      try {
        await writeFile(temporary, `${JSON.stringify(file)}\n`, { mode: 0o600 });
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
  };
}
