import { setTimeout as delay } from 'node:timers/promises';
import { processTable, type ProcessSelection, type ProcessTable } from './process-table.js';

/** The CLI of an attempt and all it starts carry this one; the supervisor does not. @param attempt `<dispatch>.<n>` */
export function attemptMark(attempt: string): string {
  return `CMO_ATTEMPT=${attempt}`;
}

/** The supervisor and its clock carry this one, and the CLI until its program is loaded. */
export function supervisorMark(attempt: string): string {
  return `CMO_SUP=${attempt}`;
}

export type Ended = {
  /** Every process that was signalled. */
  ended: number[];
  /** Still seen when the bound ran out: stuck in the kernel, or not ours to signal. Empty: none is left. */
  left: number[];
};

export type EndOptions = {
  /** TERM → KILL, ms. Both CLIs end their children on TERM, so it is worth the wait. */
  graceMs: number;
  /** How long KILL is repeated before the rest is reported as left, ms. */
  killMs?: number;
  table?: ProcessTable;
};

const POLL_MS = 50;

export function findMarked(selection: ProcessSelection, table: ProcessTable = processTable()): Promise<number[]> {
  return table.find(selection);
}

/**
 * Ends every selected process: TERM (once each), grace, then KILL until none is seen. Returns immediately when there is
 * none.
 *
 * Two looks in a row must see none: a process that forks and leaves between the reading of its child's place in the
 * list and its own is missed by one look.
 */
export async function endMarked(selection: ProcessSelection, options: EndOptions): Promise<Ended> {
  const { graceMs, killMs = 5_000, table = processTable() } = options;
  const ended = new Set<number>();
  const started = performance.now();
  for (let clean = 0; ;) {
    const seen = await table.find(selection);
    clean = seen.length === 0 ? clean + 1 : 0;
    if (clean === 2) return { ended: [...ended], left: [] };
    const elapsed = performance.now() - started;
    if (elapsed > graceMs + killMs) return { ended: [...ended], left: seen };
    const kill = elapsed >= graceMs;
    for (const pid of seen) {
      if (kill) send(pid, 'SIGKILL');
      else if (!ended.has(pid)) send(pid, 'SIGTERM');
      ended.add(pid);
    }
    if (clean === 0) await delay(POLL_MS);
  }
}

function send(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has left, or it isn't ours: the next look says which.
  }
}
