import { mkdirSync, readFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { isEnded, type Config, type DispatchRecord, type ReceiptLine } from '#contract';
import { openGate, type Gate } from '#gate';
import { openQueue, type DispatchQueue } from '#queue';
import { openRecords, type Records } from '#store';
import { startWorker, type Worker } from '#worker';
import { laneOf, testConfig, testRecord } from './records.js';
import { startRedis, type TestRedis } from './redis.js';
import { tempFolder, removeFolder } from './temp.js';
import { waitUntil } from './wait-until.js';

const STAND_INS = new URL('../fixtures/bin', import.meta.url).pathname;

/**
 * A box for the flows of the worker: a Redis of its own, a state
 * folder, stand-in CLIs on PATH, and as many workers as asked for.
 */
export type Box = {
  server: TestRedis;
  redis: Redis;
  config: Config;
  stateDir: string;
  workDir: string;
  ledger: string;
  gate: Gate;
  queue: DispatchQueue;
  records: Records;
  /** @param node another node on the same Redis, with files and an environment of its own */
  start(node?: { id: string; stateDir: string; env?: Record<string, string> }): Promise<Worker>;
  /** Submits one dispatch; the prompt's marker says what the stand-in does. */
  submit(
    prompt: string,
    change?: Partial<DispatchRecord> & { lane?: string },
    blobs?: { schema?: string },
  ): Promise<string>;
  /** Removes the session files of both CLIs. */
  forgetSessions(): void;
  ended(id: string): Promise<DispatchRecord>;
  until(id: string, state: DispatchRecord['state']): Promise<DispatchRecord>;
  /** Starts that the stand-ins wrote down, per attempt. */
  starts(): Record<string, number>;
  receipts(): ReceiptLine[];
  close(): Promise<void>;
};

export async function openBox(change: Parameters<typeof testConfig>[0] = {}): Promise<Box> {
  const folder = tempFolder('box');
  const stateDir = join(folder, 'state');
  const workDir = join(folder, 'work');
  const ledger = join(folder, 'ledger.jsonl');
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  mkdirSync(workDir);
  const base = testConfig(change);
  const env = {
    CMO_TEST_LEDGER: ledger,
    CODEX_HOME: join(folder, 'codex-home'),
    CLAUDE_CONFIG_DIR: join(folder, 'claude-home'),
  };
  mkdirSync(env.CODEX_HOME);
  mkdirSync(env.CLAUDE_CONFIG_DIR);
  const config: Config = { ...base, lanes: base.lanes.map((lane) => ({ ...lane, env: { ...env, ...lane.env } })) };
  const server = await startRedis();
  const redis = server.client();
  const gate = openGate(redis, config);
  const blobs = { folder: join(stateDir, 'blobs'), node: config.nodeId };
  const queue = openQueue({ redis, config, blobs });
  const records = openRecords(redis, blobs);
  const workers: Worker[] = [];
  const submitted = { PATH: `${STAND_INS}:${process.env['PATH'] ?? ''}`, HOME: folder };

  const box: Box = {
    server,
    redis,
    config,
    stateDir,
    workDir,
    ledger,
    gate,
    queue,
    records,
    async start(node) {
      const quiet = {
        info() {},
        warn() {},
        error(fields: object, message: string) {
          process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
        },
      };
      const here = node
        ? { config: { ...config, nodeId: node.id }, stateDir: node.stateDir, env: { ...submitted, ...node.env } }
        : { config, stateDir, env: submitted };
      const worker = await startWorker({ redis: server.client(), log: quiet, nodeProgram: null, ...here });
      workers.push(worker);
      return worker;
    },
    async submit(prompt, more = {}, { schema = undefined } = {}) {
      const record = testRecord(config, more);
      await queue.submit([
        {
          record: {
            ...record,
            request: { ...record.request, cwd: workDir, hasSchema: schema !== undefined, ...more.request },
          },
          blobs: { prompt, schema: schema ?? null, env: JSON.stringify(submitted) },
        },
      ]);
      return record.id;
    },
    forgetSessions() {
      for (const folder of [join(env.CODEX_HOME, 'sessions'), join(env.CLAUDE_CONFIG_DIR, 'projects')])
        // An agent that has just begun may be writing there.
        rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
    ended: (id) =>
      waitUntil(
        async () => {
          const record = await records.read(id);
          return record && isEnded(record.state) ? record : null;
        },
        { what: `${id} to end` },
      ),
    until: (id, state) =>
      waitUntil(
        async () => {
          const record = await records.read(id);
          return record?.state === state ? record : null;
        },
        { what: `${id} to be ${state}` },
      ),
    starts() {
      const counts: Record<string, number> = {};
      if (!existsSync(ledger)) return counts;
      for (const line of readFileSync(ledger, 'utf8')
        .split('\n')
        .filter((text) => text !== '')) {
        const entry = JSON.parse(line) as { event?: string; attempt: string };
        if (entry.event === undefined || entry.event === 'start')
          counts[entry.attempt] = (counts[entry.attempt] ?? 0) + 1;
      }
      return counts;
    },
    receipts() {
      const folderOf = join(stateDir, 'receipts');
      if (!existsSync(folderOf)) return [];
      return readdirSync(folderOf).flatMap((name) =>
        readFileSync(join(folderOf, name), 'utf8')
          .split('\n')
          .filter((text) => text !== '')
          .map((text) => JSON.parse(text) as ReceiptLine),
      );
    },
    async close() {
      for (const worker of workers) await worker.stop({ kill: true });
      await queue.close();
      await server.close();
      removeFolder(folder);
    },
  };
  return box;
}

export { laneOf };
