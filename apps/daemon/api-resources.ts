import { placeOf, projectOf, type ApiResources, type Log } from '#api';
import type { Environment, Paths } from '#config';
import type { Config } from '#contract';
import { openGate } from '#gate';
import { openQueue } from '#queue';
import { payOwed } from '#receipts';
import { findExecutable } from '#runner/find-executable';
import { openRecords, type Changes } from '#store';
import { answerCheck, captureEnvironment } from '#vendors';
import type { Redis } from 'ioredis';
import { receiptLookup } from './receipt-lookup.js';

export type ApiParts = { redis: Redis; changes: Changes; paths: Paths; config: Config; env: Environment; log: Log; daemon: ApiResources['daemon'] };

/** The real things behind the HTTP interface. */
export function apiResources({ redis, changes, paths, config, env, log, daemon }: ApiParts): ApiResources {
  const records = openRecords(redis);
  return {
    config,
    records,
    changes,
    queue: openQueue({ redis, config }),
    gate: openGate(redis, config),
    log,
    now: Date.now,
    installed(path) {
      const found = config.lanes.map((lane) => [lane.id, findExecutable(lane.command, path ?? env['PATH'] ?? '') !== null] as const);
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
    writeLine: async (dispatch) => {
      await payOwed({ redis, folder: paths.receipts }, dispatch);
    },
    daemon,
  };
}
