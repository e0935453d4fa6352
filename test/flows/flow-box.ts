import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { loadConfig, pathsOf, processOptions, type Paths } from '#config';
import type { Config, ReceiptLine } from '#contract';
import { connect } from '#store';
import { openCmo, type Cmo, type CmoOptions } from '../support/cmo.js';

export const STAND_INS = new URL('../fixtures/bin/', import.meta.url).pathname;

/** Clocks that a flow only waits for, made short. The others are the defaults: what a person's box does. */
const QUICK = {
  sweepMs: 300,
  heartbeatMs: 500,
  lockMs: 1_500,
  stalledMs: 1_000,
  killGraceMs: 1_000,
  ticketRepairMs: 1_000,
  owedRepairMs: 1_000,
};

export type RunFolder = {
  id: string;
  folder: string;
  where: 'runs' | 'done';
  /** By a supervisor. */
  claimed: boolean;
};

/** A scratch box with room for eight agents, and a look into its files and its Redis. */
export type FlowBox = Cmo & {
  paths: Paths;
  /** As the daemon reads it. */
  settings(): Config;
  /** A client of its Redis, which waits while that is down. */
  redis(): Redis;
  runFolders(): RunFolder[];
  /** The lines of a dispatch and its attempts, repeats dropped. */
  linesOf(id: string): ReceiptLine[];
  up(): Promise<void>;
  /** The pid of the one daemon; throws when there is none, or a second. */
  daemon(): number;
  redisPid(): number;
};

export function openFlow(options: CmoOptions = {}): FlowBox {
  const { timing, ...config } = options.config ?? {};
  const box = openCmo({
    ...options,
    config: {
      slots: { account: 8, node: 8, dark: 8 },
      holdBack: { slots: 0, points: 0 },
      ...config,
      timing: { ...QUICK, ...(timing as object | undefined) },
    },
  });
  const paths = pathsOf(box.env, { home: box.env['HOME'] ?? '', temp: box.folder });
  const clients: Redis[] = [];
  const only = (pids: number[], what: string): number => {
    const [pid] = pids;
    if (pid === undefined || pids.length > 1) throw new Error(`not one ${what}: ${pids.join(', ') || 'none'}`);
    return pid;
  };
  return {
    ...box,
    paths,
    settings() {
      const loaded = loadConfig(processOptions(box.env));
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.diagnostics));
      return loaded.config;
    },
    redis() {
      const url = box.env['CMO_REDIS_URL'];
      const client =
        url === undefined
          ? new Redis({ path: paths.redisSocket, maxRetriesPerRequest: null })
          : connect({ url }, 'worker', 'test');
      client.on('error', () => undefined);
      clients.push(client);
      return client;
    },
    runFolders: () => [...foldersIn(paths.runs, 'runs'), ...foldersIn(join(paths.runs, 'done'), 'done')],
    linesOf: (id) => firstOfEach(box.receipts()).filter((line) => line.id === id || line.id.startsWith(`${id}.`)),
    async up() {
      const ran = await box.cmo(['up']);
      if (ran.code !== 0) throw new Error(`cmo up left with ${ran.code ?? ran.signal}: ${ran.stderr}`);
    },
    daemon: () => only(box.daemonPids(), 'daemon'),
    redisPid: () => only(box.redisPids(), 'Redis'),
    async close() {
      for (const client of clients.splice(0)) client.disconnect();
      // Nothing of it is needed any more: an orderly end would take seconds where an agent hangs.
      await box.killAll();
      await box.close();
    },
  };
}

/** As every reader does: a delivery that is repeated after a crash repeats its lines. */
export function firstOfEach(lines: readonly ReceiptLine[]): ReceiptLine[] {
  const seen = new Set<string>();
  return lines.filter(({ kind, id }) => {
    const key = `${kind} ${id}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function foldersIn(parent: string, where: RunFolder['where']): RunFolder[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .filter((name) => /^d-[0-9A-Z]{26}\.[0-9]+$/.test(name))
    .map((id) => ({ id, folder: join(parent, id), where, claimed: isClaimed(join(parent, id)) }));
}

function isClaimed(folder: string): boolean {
  try {
    return !readFileSync(join(folder, 'claim'), 'utf8').includes('"void":true');
  } catch {
    return false;
  }
}

/**
 * A prompt whose agent works until the file is there, then answers. It needs write access: a reader's tool is not run.
 */
export function untilThere(file: string, answer = 'released'): string {
  return `[[sim:tool cmd="until [ -e ${file} ]; do sleep 0.1; done; echo ${answer}"]]`;
}
