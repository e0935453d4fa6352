import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The clock of these tests; no test reads the real one. */
export const NOW = Date.UTC(2026, 10, 20, 3, 15);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A `token_count` line written `ago` ms before NOW. */
export function countLine(limits: unknown, ago: number | null = MINUTE): string {
  const timestamp = ago === null ? {} : { timestamp: new Date(NOW - ago).toISOString() };
  return `${JSON.stringify({ ...timestamp, type: 'event_msg', payload: { type: 'token_count', info: null, rate_limits: limits } })}\n`;
}

/** Limits with a 5-hour window two hours before its reset and a weekly one four days before. */
export function limits(fiveHour: number, weekly: number, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    limit_id: 'codex',
    primary: { used_percent: fiveHour, window_minutes: 300, resets_at: (NOW + 2 * HOUR) / 1000 },
    secondary: { used_percent: weekly, window_minutes: 10080, resets_at: (NOW + 4 * DAY) / 1000 },
    ...more,
  };
}

/** Writes a file under a CODEX_HOME, last touched `ago` ms before NOW. */
export async function rollout(home: string, path: string, text: string, ago = MINUTE): Promise<void> {
  const file = join(home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  const touched = new Date(NOW - ago);
  await utimes(file, touched, touched);
}
