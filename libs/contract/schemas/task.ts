import * as z from 'zod/mini';
import { NUMBERS } from '../bounds.js';
import type { Task } from '../decision.js';
import { flag, length, maybe, role, within, word, type Same } from './words.js';

/** What the policy decides on; the `task` of `cmo explain decision`. */
export const taskSchema = z.strictObject({
  role: maybe(role),
  complexity: maybe(within(NUMBERS.complexity)),
  length: maybe(length),
  contextTokens: maybe(within(NUMBERS.contextTokens)),
  needsSchema: maybe(flag),
  needsRepoWrite: maybe(flag),
  independentOf: maybe(word),
  strictIndependence: maybe(flag),
  pin: maybe(word),
  pinModel: maybe(word),
  pinModelLane: maybe(word),
  modelsOut: maybe(z.array(z.string())),
  lanesOut: maybe(z.array(z.string())),
  schemaRefusedBy: maybe(z.array(z.string())),
});
export const taskIsRight: Same<z.infer<typeof taskSchema>, Task> = true;
