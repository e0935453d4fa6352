import * as z from 'zod/mini';
import type { BatchData } from '../batch.js';
import { STATES } from '../words.js';
import { envelopeSchema } from './envelope.js';
import { batchName, count, type Same } from './words.js';

/** Dispatches that were submitted under one name, and how many are in each state. */
export const batchSchema = z.object({
  batch: batchName,
  census: z.record(z.enum(['total', ...STATES]), count),
  dispatches: z.array(envelopeSchema),
});
export const batchIsRight: Same<z.infer<typeof batchSchema>, BatchData> = true;
