import { setTimeout as delay } from 'node:timers/promises';
import { isEnded, type DispatchRecord, type Envelope, type ReceiptLine } from '#contract';
import { envelopeOf } from './envelope.js';
import type { ApiResources } from './resources.js';
import type { Waiting } from './waiting.js';

/** Fetches what an envelope needs beside the record: the answer or what was kept of it, receipts, and why it waits. */
export async function readEnvelope(
  { records, receipts, now }: Pick<ApiResources, 'records' | 'receipts' | 'now'>,
  record: DispatchRecord,
  look: (record: DispatchRecord) => Promise<Waiting | null>,
): Promise<Envelope> {
  const ended = isEnded(record.state);
  const succeeded = record.state === 'succeeded';
  const [result, partial, lines, waiting] = await Promise.all([
    succeeded ? records.text(record.id, 'result') : null,
    ended && !succeeded && record.history.length > 0 ? records.blob(record.id, 'partial') : null,
    linesOf(record, receipts),
    look(record),
  ]);
  return envelopeOf({ record, result, partial, receipts: lines, waiting, now: now() });
}

/**
 * A dispatch's receipt line is written just after it has ended, so a caller that waited for the end waits for the line
 * too, at most this long, ms.
 */
const LINE_MS = 1_000;

async function linesOf(record: DispatchRecord, receipts: ApiResources['receipts']): Promise<ReceiptLine[]> {
  const ended = isEnded(record.state);
  if (!ended && record.history.length === 0) return [];
  const until = performance.now() + LINE_MS;
  for (;;) {
    const lines = await receipts(record.id);
    if (!ended || lines.some(({ kind }) => kind === 'dispatch') || performance.now() > until) return lines;
    await delay(20);
  }
}
