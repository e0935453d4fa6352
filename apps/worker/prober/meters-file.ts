import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LimitsData, MetersFile } from '#contract';

const METERS_FILE = 'meters.json';

const LEAST_MS = 1_000;
/** Unchanged, it is still written now and then: a reader takes its age for the daemon's. */
const MOST_MS = 60_000;

export interface MetersFileWriter {
  /** The present picture; written immediately, or once a second has passed since the last write. */
  offer(data: LimitsData): void;
  /** Writes what is still owed. */
  stop(): Promise<void>;
}

/**
 * meters.json in the state folder: what a start of `cmo` reads in place of asking anybody. Put in place by a rename, so
 * that no reader sees half of it; written when something changed, at most once a second.
 */
export function metersFile(stateDir: string, failed: (error: unknown) => void): MetersFileWriter {
  const path = join(stateDir, METERS_FILE);
  let last = { text: '', at: Number.NEGATIVE_INFINITY };
  let owed: LimitsData | null = null;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const flush = (): void => {
    timer = undefined;
    if (owed === null) return;
    const data = owed;
    owed = null;
    last = { text: textOf(data), at: performance.now() };
    writing = writing.then(() => write(path, data)).catch(failed);
  };

  return {
    offer(data) {
      const age = performance.now() - last.at;
      if (textOf(data) === last.text && age < MOST_MS) {
        owed = null;
        return;
      }
      owed = data;
      if (age >= LEAST_MS) flush();
      else timer ??= setTimeout(flush, LEAST_MS - age);
    },
    async stop() {
      clearTimeout(timer);
      flush();
      await writing;
    },
  };
}

/** Without the time of the picture itself: that alone is no change. */
function textOf(data: LimitsData): string {
  return JSON.stringify({ ...data, writtenAt: '' });
}

async function write(path: string, data: LimitsData): Promise<void> {
  const file: MetersFile = { schema: 'cmo.meters/1', ...data };
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, `${JSON.stringify(file)}\n`, { mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
