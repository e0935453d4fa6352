import type { LightMyRequestResponse } from 'fastify';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { createApi, placeOf, projectOf, type Api, type ApiResources } from '#api';
import type { Answer, Config, DispatchRequest, Envelope, HealthData, LimitsData, ReceiptLine } from '#contract';
import { runOutput } from '#daemon/run-output';
import { openControls, openGate, type Gate } from '#gate';
import { openQueue, openTransitions } from '#queue';
import { listReceipts, payAllOwed, payOwed } from '#receipts';
import { connect, openRecords, watchChanges, type Records } from '#store';
import { answerCheck, captureEnvironment } from '#vendors';
import { newId, testConfig } from '../../support/records.js';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { removeFolder, tempFolder } from '../../support/temp.js';

/** The HTTP interface on a real Redis, without a worker: what is queued stays queued. */
export type TestApi = {
  api: Api;
  server: TestRedis;
  redis: Redis;
  config: Config;
  gate: Gate;
  records: Records;
  resources: ApiResources;
  work: string;
  /** The node's run folders. */
  runs: string;
  /** Which lanes have a CLI. */
  installed: Record<string, boolean>;
  lent: [string, boolean][];
  shutdowns: { kill: boolean; keepRedis: boolean }[];
  logged: string[];
  /** What the worker says of itself, to be changed. */
  health: HealthData;
  /** What the disk has and what it must have, to be changed. */
  disk: { free: number; floor: number };
  request(change?: Partial<DispatchRequest>): DispatchRequest;
  send(method: 'GET' | 'POST', url: string, body?: unknown): Promise<LightMyRequestResponse>;
  answer<T>(method: 'GET' | 'POST', url: string, body?: unknown): Promise<Answer<T>>;
  /** One dispatch; throws when it is refused. */
  submit(change?: Partial<DispatchRequest>): Promise<Envelope>;
  /** As a worker would end it, without having run it. */
  end(id: string): Promise<void>;
  lines(): Promise<ReceiptLine[]>;
  close(): Promise<void>;
};

const NO_LIMITS: LimitsData = {
  node: 'test-node',
  writtenAt: new Date(0).toISOString(),
  pressure: { tight: 65, critical: 85, exhausted: 95 },
  accounts: [],
};

export async function openApi(change: Parameters<typeof testConfig>[0] = {}): Promise<TestApi> {
  const server = await startRedis();
  const folder = tempFolder('api');
  const work = join(folder, 'work');
  const receipts = join(folder, 'receipts');
  const runs = join(folder, 'runs');
  mkdirSync(work);
  const redis = connect({ socket: server.socket }, 'caller', 'api');
  const config = testConfig(change);
  const records = openRecords(redis);
  const gate = openGate(redis, config);
  const queue = openQueue({ redis, config });
  const changes = await watchChanges(redis);
  const installed: Record<string, boolean> = { codex: true, claude: true };
  const shutdowns: TestApi['shutdowns'] = [];
  const lends: TestApi['lent'] = [];
  const logged: string[] = [];
  const disk = { free: 2, floor: 1 };
  const health: HealthData = { problems: [], lanes: [] };
  const hear = (fields: object, message: string): void =>
    void logged.push(
      `${message} ${JSON.stringify(fields, (_key, value: unknown) => (value instanceof Error ? `${value.name} ${value.message}` : value))}`,
    );
  const resources: ApiResources = {
    config,
    records,
    changes,
    queue,
    gate,
    controls: openControls(redis, config),
    log: { debug: hear, info: hear, warn: hear, error: hear },
    now: Date.now,
    installed: () => Promise.resolve(installed),
    place: placeOf,
    project: projectOf,
    schemaProblems: async (schema) => {
      const checked = await answerCheck(schema);
      return checked.ok ? [] : checked.details;
    },
    refusedVariables: (values) => captureEnvironment({}, { names: [], values }).refused,
    output: (attempt, from) => runOutput(runs, attempt, from),
    lend: (attempt, lent) => void lends.push([attempt, lent]),
    receipts: (dispatch) => listReceipts(receipts, { dispatch }),
    writeLine: async (dispatch) => {
      await payOwed({ redis, folder: receipts }, dispatch);
    },
    disk: () => Promise.resolve(disk),
    writeLines: (dispatches) => payAllOwed({ redis, folder: receipts }, dispatches),
    limits: { read: () => Promise.resolve(NO_LIMITS), refresh: () => Promise.resolve(NO_LIMITS) },
    daemon: {
      about: () =>
        Promise.resolve({
          pid: 1,
          service: false,
          startedAt: new Date(0).toISOString(),
          running: 0,
          redis: { private: true, address: server.socket, pid: 2, version: null, warnings: [] },
        }),
      shutdown: (options) => void shutdowns.push(options),
      collectGarbage: () => Promise.reject(new Error('there is no worker here')),
      health: () => health,
    },
  };
  const api = await createApi(resources);
  const test: TestApi = {
    api,
    server,
    redis,
    config,
    gate,
    records,
    resources,
    health,
    work,
    runs,
    installed,
    shutdowns,
    lent: lends,
    logged,
    disk,
    request: (more = {}) => ({ id: newId(), prompt: 'do it', cwd: work, env: { PATH: '/bin' }, ...more }),
    send: (method, url, body) =>
      api.app.inject({ method, url, ...(body === undefined ? {} : { payload: body as object }) }),
    async answer<T>(method: 'GET' | 'POST', url: string, body?: unknown) {
      return (await test.send(method, url, body)).json<Answer<T>>();
    },
    async submit(more) {
      const answer = await test.answer<{ dispatches: Envelope[] }>('POST', '/v1/dispatches', {
        dispatches: [test.request(more)],
      });
      const envelope = answer.ok ? answer.data.dispatches[0] : undefined;
      if (!envelope) throw new Error(JSON.stringify(answer));
      return envelope;
    },
    async end(id) {
      const record = await records.read(id);
      if (!record) throw new Error(`no ${id}`);
      await openTransitions(redis, config).change(record, { state: 'expired', event: 'expired', change: {} });
      await payOwed({ redis, folder: receipts }, id);
    },
    lines: () => listReceipts(receipts),
    async close() {
      await api.close();
      await changes.close();
      await queue.close();
      redis.disconnect();
      await server.close();
      removeFolder(folder);
    },
  };
  return test;
}
