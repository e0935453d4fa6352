import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { openGate } from '#gate';
import { readStat } from '#runner/process-identity';
import type { FlowBox } from '../flows/flow-box.js';
import { killNow, processesOf, signal } from '../support/processes.js';
import { oneOf, type Random } from '../support/seeded.js';
import { sleep, waitUntil } from '../support/wait-until.js';
import type { Work } from './work.js';

/** What is struck. Worker and api are one process, the daemon; so one victim stands for both. */
export const VICTIMS = [
  'the daemon',
  'a supervisor',
  'Redis',
  'a client',
  'everything',
  'the subscriptions',
  'both lanes',
] as const;
export type Victim = (typeof VICTIMS)[number];

export type Scene = { box: FlowBox; work: Work; redis: Redis; random: Random };

/** One strike, by kill -9 or by SIGSTOP and a SIGCONT later; in words, what was done. */
export async function strike(victim: Victim, scene: Scene): Promise<string> {
  const { box, work, redis, random } = scene;
  const kills = random() < 0.5;
  const forMs = Math.round(200 + random() * 2_000);
  switch (victim) {
    case 'the daemon':
      if (!kills) return stopped(box.daemonPids(), forMs, 'the daemon');
      await box.killDaemon();
      void box.cmo(['up']);
      return 'the daemon killed';
    case 'Redis':
      if (!kills) return stopped(box.redisPids(), forMs, 'Redis');
      await box.killRedis();
      return 'Redis killed';
    case 'a supervisor': {
      const pid = someSupervisor(box, random);
      if (pid === null) return 'no supervisor was there';
      // For longer, too, than a worker waits for one to claim its start.
      if (!kills) return stopped([pid], 2 * forMs, 'a supervisor');
      await killNow(pid);
      return 'a supervisor killed';
    }
    case 'a client': {
      const { pid } = work.client();
      await sleep(random() * 250);
      if (!kills) return stopped([pid], Math.min(forMs, 800), 'a client');
      signal(pid, 'SIGKILL');
      return 'a client killed';
    }
    case 'everything':
      if (!kills)
        return stopped(
          processesOf(box.folder).map(({ pid }) => pid),
          Math.min(forMs, 1_200),
          'everything',
        );
      await box.killAll();
      void box.cmo(['up']);
      return 'everything killed';
    case 'the subscriptions':
      for (const until = performance.now() + forMs; performance.now() < until; await sleep(40)) {
        if (redis.status === 'ready') await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      }
      return `subscriptions cut for ${forMs} ms`;
    case 'both lanes': {
      await read(scene, ['codex', 'claude'], 96);
      await work.submit(2);
      await sleep(Math.min(forMs, 1_000));
      const opens = oneOf(random, ['codex', 'claude'] as const);
      await read(scene, [opens], 10);
      return `both lanes shut, then ${opens} opened`;
    }
  }
}

/** What a vendor might say of its accounts' windows. */
export async function read(
  { box, redis }: Pick<Scene, 'box' | 'redis'>,
  accounts: readonly string[],
  usedPercent: number,
): Promise<void> {
  const gate = openGate(redis, box.settings());
  const now = Date.now();
  for (const account of accounts)
    await gate.read({
      account,
      windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent, resetsAt: now + 3_600_000, scope: null }],
      source: 'test',
      writtenAt: now,
      readAt: now,
      plan: null,
    });
}

async function stopped(pids: readonly number[], forMs: number, what: string): Promise<string> {
  for (const pid of pids) signal(pid, 'SIGSTOP');
  await sleep(forMs);
  for (const pid of pids) signal(pid, 'SIGCONT');
  return `${what} stopped for ${forMs} ms`;
}

/**
 * One that has not linked its claim yet, if there is any: that
 * lasts for milliseconds, and is where a start could be doubled.
 */
function someSupervisor(box: FlowBox, random: Random): number | null {
  const leaders = processesOf(box.paths.runs).filter(
    ({ pid, command }) => command.includes('cmo-supervisor') && readStat(pid)?.group === pid,
  );
  const early = leaders.filter(({ command }) => {
    const folder = /cmo-supervisor (\S+)/.exec(command)?.[1];
    return folder !== undefined && existsSync(folder) && !existsSync(join(folder, 'claim'));
  });
  const some = early.length > 0 ? early : leaders;
  return some[Math.floor(random() * some.length)]?.pid ?? null;
}

/** Nothing is down, and no lane is shut: whatever ends now ends by itself. */
export async function calm(scene: Scene): Promise<void> {
  const { box } = scene;
  await waitUntil(async () => (await box.cmo(['up'])).code === 0, {
    what: 'the daemon to be up',
    timeoutMs: 60_000,
    everyMs: 200,
  });
  await read(scene, ['codex', 'claude'], 10);
}
