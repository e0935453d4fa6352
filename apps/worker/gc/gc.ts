import type { GcData } from '#contract';
import { forgetRecords } from '#queue';
import { forgetReceipts, layBallast } from '#receipts';
import { redisOffset } from '#store';
import type { Resources } from '../resources.js';
import { forgetBlobs } from './blob-files.js';
import { forgetRuns } from './run-folders.js';

/**
 * Removes what is kept no longer: ended records with their texts, whole months of receipts, folders of delivered
 * attempts, and files of texts. Records first: what they named is free then. Never anything of a dispatch that lives.
 */
export async function collectGarbage(resources: Resources, dryRun: boolean): Promise<GcData> {
  const { redis, config, folders, node, clock, log } = resources;
  const { retention } = config;
  const now = clock();
  const forgotten = await forgetRecords(redis, retention.records, now + (await redisOffset(redis, clock)), dryRun);
  const receipts = await forgetReceipts(folders.receipts, retention.receipts, now, dryRun);
  const runs = await forgetRuns(resources, retention.runs, now, dryRun);
  const blobs = await forgetBlobs(resources, retention.blobs, now, dryRun, new Set(forgotten));
  const data: GcData = {
    dryRun,
    node,
    records: { removed: forgotten.length },
    receipts: {
      files: receipts.map(({ name }) => name),
      lines: receipts.reduce((sum, { lines }) => sum + lines, 0),
      bytes: receipts.reduce((sum, { bytes }) => sum + bytes, 0),
    },
    runs,
    blobs,
  };
  if (dryRun) return data;
  if (forgotten.length + receipts.length + runs.removed + blobs.removed > 0)
    log.info({ ...data }, 'what is kept no longer was removed');
  await layBallast(folders.receipts);
  return data;
}
