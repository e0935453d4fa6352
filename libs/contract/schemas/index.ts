import type * as z from 'zod/mini';
import { attemptSchema } from './attempt.js';
import { batchSchema } from './batch.js';
import { decisionSchema, laneFactsSchema } from './decision.js';
import { envelopeSchema, errorSchema } from './envelope.js';
import { findingSchema } from './finding.js';
import { limitsSchema, metersFileSchema } from './limits.js';
import { attemptReceiptSchema, dispatchReceiptSchema, receiptLineSchema } from './receipt.js';
import { requestSchema, submitSchema } from './request.js';
import { serviceSchema } from './service.js';
import { taskSchema } from './task.js';

/**
 * Every form that leaves or enters this program as JSON, published in docs/reference. Within a major version members
 * are only added.
 */
export const SCHEMAS: Readonly<Record<string, { about: string; schema: z.ZodMiniType }>> = {
  task: { about: 'What the policy decides on: the `task` of `cmo explain decision`.', schema: taskSchema },
  'lane-facts': {
    about: 'What is known of a lane when it is decided: a member of the `limits` of `cmo explain decision`.',
    schema: laneFactsSchema,
  },
  decision: { about: 'Where a task goes and why, with the facts it was made from.', schema: decisionSchema },
  request: {
    about: 'One dispatch as a front door sends it. A key that is not here is refused.',
    schema: requestSchema,
  },
  submit: { about: 'The body of POST /v1/dispatches: all of them are recorded, or none.', schema: submitSchema },
  envelope: { about: 'What `cmo run`, `wait` and `result` print of one dispatch.', schema: envelopeSchema },
  error: { about: 'The shape of every `error` member; errors.md lists the codes.', schema: errorSchema },
  attempt: { about: 'One attempt that ended, as records and envelopes hold it.', schema: attemptSchema },
  'attempt-receipt': { about: 'A receipt’s line for a started attempt.', schema: attemptReceiptSchema },
  'dispatch-receipt': { about: 'A receipt’s line for a dispatch that ended.', schema: dispatchReceiptSchema },
  'receipt-line': {
    about: 'A line of receipts/YYYY-MM.jsonl. Readers drop repeats by (kind, id).',
    schema: receiptLineSchema,
  },
  batch: {
    about: 'Dispatches that were submitted under one name, and how many are in each state.',
    schema: batchSchema,
  },
  limits: { about: 'What is known of every account’s windows, with its age.', schema: limitsSchema },
  meters: { about: 'meters.json in the state folder.', schema: metersFileSchema },
  service: {
    about: 'How the box runs the daemon from its start on, and what `cmo service` did about it.',
    schema: serviceSchema,
  },
  finding: { about: 'Something that a report found in the receipts, and what to do about it.', schema: findingSchema },
};
