import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Socket } from 'node:net';
import { forkHere, type Fork, type ForkRequest, type Spawned } from './fork.js';
import { SMALL_NODE } from './small-node.js';

/**
 * Starts supervisors from a small process of its own. A fork copies the caller's page tables: each start blocked a
 * daemon of 90 MB for 5 ms and one of 150 MB for 12, but blocks this process for 1.4 (a virtual machine of two cores,
 * 2026-11).
 *
 *   up ──it exits, for any reason──▶ down ──the next start──▶ up;  after FAILURES in a row: given up, start from here
 *
 * Requests without an answer when it exits are started from here. They may have been started already: then two
 * supervisors meet in one folder, and the claim lets one of them go on.
 */
export type ForkServer = {
  fork: Fork;
  /** Null: it is down. */
  pid(): number | null;
  close(): void;
};

/** Its first word, beside a supervisor's folder: both are one file, of which the daemon keeps a copy. */
export const FORK_SERVER = '--fork-server';

const FAILURES = 3;

export type ForkAnswer = { n: number } & ({ pid: number } | { why: string } | { exit: number | null });

type Asked = { answer: (spawned: Spawned | null) => void; left: (code: number | null) => void };

/** @param script the bundled Node program (`dist/supervisor.mjs`, or a copy) */
export function openForkServer(script: string): ForkServer {
  let child: ChildProcess | null = null;
  let failures = 0;
  let closed = false;
  let asked = 0;
  const open = new Map<number, Asked>();

  const up = (): ChildProcess => {
    const started = spawn(process.execPath, [...SMALL_NODE, script, FORK_SERVER], {
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
      cwd: '/',
      env: {},
    });
    const down = (): void => {
      if (child !== started) return;
      child = null;
      failures += 1;
      for (const { answer } of open.values()) answer(null);
      open.clear();
    };
    started.once('exit', down);
    started.once('error', down);
    started.stdin?.on('error', () => {});
    started.unref();
    for (const pipe of [started.stdin, started.stdout]) (pipe as Socket | null)?.unref();
    if (started.stdout)
      createInterface({ input: started.stdout }).on('line', (line) => take(JSON.parse(line) as ForkAnswer));
    return started;
  };

  const take = (told: ForkAnswer): void => {
    const one = open.get(told.n);
    if ('exit' in told || 'why' in told) open.delete(told.n);
    if ('exit' in told) return one?.left(told.exit);
    failures = 0;
    if ('why' in told) return one?.answer({ ok: false, why: told.why });
    one?.answer({ ok: true, pid: told.pid, exited: new Promise((resolve) => (one.left = resolve)) });
  };

  const ask = (server: ChildProcess, request: ForkRequest): Promise<Spawned | null> =>
    new Promise((resolve) => {
      const n = ++asked;
      open.set(n, { answer: resolve, left: () => {} });
      server.stdin?.write(`${JSON.stringify({ n, ...request })}\n`);
    });

  child = up();
  return {
    async fork(request) {
      if (closed || failures >= FAILURES) return forkHere(request);
      child ??= up();
      return (await ask(child, request)) ?? forkHere(request);
    },
    pid: () => child?.pid ?? null,
    close() {
      closed = true;
      child?.stdin?.end();
    },
  };
}
