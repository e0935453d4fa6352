import { existsSync, readFileSync } from 'node:fs';

/** What a stand-in CLI wrote down: see test/fixtures/bin. */
export type LedgerLine =
  | { event: 'start'; cli: string; attempt: string; pid: number; at: number; cwd: string; argv: string[] }
  | { event: 'end'; cli: string; attempt: string; pid: number; at: number; exit: number | null; signal?: string };

export function readLedger(file: string): LedgerLine[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LedgerLine);
}

/** How often a CLI was started for each attempt. */
export function startsPerAttempt(lines: readonly LedgerLine[]): Record<string, number> {
  const starts: Record<string, number> = {};
  for (const { event, attempt } of lines) if (event === 'start') starts[attempt] = (starts[attempt] ?? 0) + 1;
  return starts;
}

/** The most that ran at once. Lines are appended as things happen, so no clock is compared. */
export function peakOf(lines: readonly LedgerLine[]): number {
  const running = new Set<number>();
  let peak = 0;
  for (const { event, pid } of lines) {
    if (event === 'start') running.add(pid);
    else running.delete(pid);
    peak = Math.max(peak, running.size);
  }
  return peak;
}
