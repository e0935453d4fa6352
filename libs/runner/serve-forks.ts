import { createInterface } from 'node:readline';
import { forkHere, type ForkRequest } from './fork.js';
import type { ForkAnswer } from './fork-server.js';

/**
 * The other side of fork-server.ts: requests as lines of JSON on stdin, answers on stdout. It exits with its parent.
 */
export function serveForks(): void {
  const say = (answer: ForkAnswer): void => {
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  };
  process.stdout.on('error', () => process.exit());
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const { n, ...request } = JSON.parse(line) as ForkRequest & { n: number };
    void forkHere(request).then((spawned) => {
      if (!spawned.ok) return say({ n, why: spawned.why });
      say({ n, pid: spawned.pid });
      void spawned.exited.then((exit) => say({ n, exit }));
    });
  });
  lines.on('close', () => process.exit());
}
