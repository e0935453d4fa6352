import { placeOf, projectOf, type ApiResources, type Log } from '#api';
import type { Environment, Paths } from '#config';
import { CmoError, errorBody, type Config } from '#contract';
import { laneCost, openControls, openGate } from '#gate';
import { openQueue } from '#queue';
import { payAllOwed, payOwed } from '#receipts';
import { findExecutable } from '#runner/find-executable';
import { openRecords, type Changes } from '#store';
import { answerCheck, captureEnvironment } from '#vendors';
import type { Worker } from '#worker';
import type { Redis } from 'ioredis';
import { freeSpace } from './disk-space.js';
import { receiptLookup } from './receipt-lookup.js';
import { runOutput } from './run-output.js';

/** What the worker knows of costs, logins and meters; null until it has started. */
type WorkerMeters = Worker['meters'];

export type ApiParts = {
  redis: Redis;
  changes: Changes;
  paths: Paths;
  config: Config;
  env: Environment;
  log: Log;
  daemon: ApiResources['daemon'];
  meters: () => WorkerMeters | null;
  lend: ApiResources['lend'];
};

/** The real things behind the HTTP interface. */
export function apiResources({
  redis,
  changes,
  paths,
  config,
  env,
  log,
  daemon,
  meters,
  lend,
}: ApiParts): ApiResources {
  const free = freeSpace(paths.state);
  const blobs = { folder: paths.blobs, node: config.nodeId };
  const records = openRecords(redis, blobs);
  // On the api's own connection: it must fail, not wait, while Redis is away.
  const gate = openGate(redis, config, (lane, tier) => meters()?.costsOf(lane, tier) ?? laneCost(lane));
  const started = (): WorkerMeters => {
    const worker = meters();
    if (worker === null) throw new CmoError(errorBody('CMO_E_DAEMON', 'the daemon is just starting'));
    return worker;
  };
  return {
    config,
    records,
    changes,
    queue: openQueue({ redis, config, blobs }),
    controls: openControls(redis, config),
    gate: {
      ...gate,
      facts: async (lanes, here) => {
        const facts = await gate.facts(lanes, here);
        return meters()?.withHolds(facts) ?? facts;
      },
    },
    log,
    now: Date.now,
    installed(path) {
      const found = config.lanes.map(
        (lane) => [lane.id, findExecutable(lane.command, path ?? env['PATH'] ?? '') !== null] as const,
      );
      return Promise.resolve(Object.fromEntries(found));
    },
    place: placeOf,
    project: projectOf,
    async schemaProblems(schema) {
      const checked = await answerCheck(schema);
      return checked.ok ? [] : checked.details;
    },
    refusedVariables: (values) => captureEnvironment({}, { names: [], values }).refused,
    receipts: receiptLookup(paths.receipts),
    output: (attempt, from) => runOutput(paths.runs, attempt, from),
    lend,
    writeLine: async (dispatch) => {
      await payOwed({ redis, folder: paths.receipts }, dispatch);
    },
    disk: async () => ({ free: await free(), floor: config.disk.floorMb * 1024 * 1024 }),
    writeLines: (dispatches) => payAllOwed({ redis, folder: paths.receipts }, dispatches),
    limits: {
      read: () => within(READ_MS, () => started().limits()),
      refresh: () => within(REFRESH_MS, () => started().refresh()),
    },
    daemon,
  };
}

/** The worker's connection waits for a Redis that is away; a request gives up after this long, ms, and says so. */
const READ_MS = 5_000;
/** A login may have to be renewed first. */
const REFRESH_MS = 150_000;

async function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new CmoError(errorBody('CMO_E_REDIS', 'Redis did not answer in time'))), ms);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
