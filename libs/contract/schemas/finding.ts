import * as z from 'zod/mini';
import { SEVERITIES, type Finding } from '../finding.js';
import { text, type Same } from './words.js';

/** Something that a report found, and what to do about it. */
export const findingSchema = z.object({
  code: text,
  severity: z.enum(SEVERITIES),
  finding: text,
  action: text,
  numbers: z.array(z.number()),
});
export const findingIsRight: Same<z.infer<typeof findingSchema>, Finding> = true;
