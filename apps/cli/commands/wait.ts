import type { Envelope } from '#contract';
import { attend } from '../client/attend.js';
import { batchData, idsOfBatch } from '../client/batch.js';
import { DaemonClient } from '../client/daemon.js';
import { alone, idsOf, someWords } from '../client/on-record.js';
import { command } from '../command.js';
import { OUTPUT_FLAGS, valued } from '../flags/flag.js';
import { batchName, duration } from '../flags/readers.js';
import { FORMAT_FLAGS, formatOf, handOver, handOverCensus } from '../output/batch-format.js';
import { printAttended, printEnd } from '../output/print-attended.js';

const YEAR_MS = 366 * 86_400_000;

export const wait = command({
  name: 'wait',
  summary: 'wait for dispatches',
  words: { shown: 'ID…', min: 0, max: 1000 },
  flags: {
    batch: valued('--batch', 'NAME', batchName, 'every dispatch of this batch'),
    timeout: valued(
      '--timeout',
      'DUR',
      duration(0, YEAR_MS),
      'stop waiting after this long, exit 7; they go on: 90, 15m, 8h',
    ),
    ...FORMAT_FLAGS,
    ...OUTPUT_FLAGS,
  },
  output: 'json-in-pipes',
  schema: 'cmo.envelope/1',
  examples: [
    'cmo wait d-01JE0000000000000000000000',
    'cmo wait --batch night',
    'cmo wait --batch night --format jsonl > answers.jsonl',
    'cmo wait --timeout 10m d-01JE0000000000000000000000',
  ],
  notes: [
    'For one it prints the answer as `cmo run` does; for several, a line as each ends, and it exits 6 unless all succeeded.',
    'Ctrl-C cancels what is waited for. A closed terminal or SIGTERM does not.',
  ],
  async run({ values, words }, context) {
    const handing = formatOf(values, context);
    const client = new DaemonClient(context.paths);
    const ids =
      values.batch === undefined
        ? await idsOf(someWords(words, 'wait'), context)
        : await idsOfBatch(client, alone(values.batch, words), context);
    const attended = await attend(
      client,
      {
        ids,
        forMs: values.timeout ?? null,
        ...((ids.length > 1 || values.batch !== undefined) && {
          onEnd: (envelope: Envelope) => (handing ? handOver(envelope, handing, context) : printEnd(context, envelope)),
        }),
      },
      context,
    );
    if (handing && values.batch !== undefined && 'envelopes' in attended)
      handOverCensus(batchData(values.batch, attended.envelopes), handing, context);
    return printAttended(context, ids, attended, values.batch, handing !== null);
  },
});
