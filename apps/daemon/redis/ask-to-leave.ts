import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, type ProcessIdentity } from '#runner/process-identity';
import { ask } from './ask.js';

/**
 * Ends a server in order: its append-only file is written and closed. SHUTDOWN where it answers, TERM where it doesn't.
 * Never KILL: a second server on the folder of one that still writes would cost more than the wait.
 * @returns whether it has left within `leaveMs`
 */
export async function askToLeave(server: ProcessIdentity, socket: string | null, leaveMs: number): Promise<boolean> {
  const until = performance.now() + leaveMs;
  // It answers SHUTDOWN only when it can't; when it can, the connection just ends.
  if (socket !== null && isAlive(server)) await ask(socket, ['SHUTDOWN']);
  for (let patience = socket === null ? 0 : 1_000, termed = false; isAlive(server); patience -= 20) {
    if (performance.now() > until) return false;
    if (patience <= 0 && !termed) {
      term(server.pid);
      termed = true;
    }
    await delay(20);
  }
  return true;
}

function term(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It left between the look and the signal.
  }
}
