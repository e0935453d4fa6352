import { attend } from '../client/attend.js';
import { DaemonClient } from '../client/daemon.js';
import { idsOf } from '../client/on-record.js';
import { command } from '../command.js';
import { OUTPUT_FLAGS, valued } from '../flags/flag.js';
import { duration } from '../flags/readers.js';
import { printAttended, printEnd } from '../output/print-attended.js';

const YEAR_MS = 366 * 86_400_000;

export const wait = command({
  name: 'wait',
  summary: 'wait for dispatches',
  words: { shown: 'ID…', min: 1, max: 1000 },
  flags: { timeout: valued('--timeout', 'DUR', duration(0, YEAR_MS), 'leave after so long, exit 7; they go on: 90, 15m, 8h'), ...OUTPUT_FLAGS },
  output: 'json-in-pipes',
  schema: 'cmo.envelope/1',
  examples: ['cmo wait d-01JE0000000000000000000000', 'cmo wait --timeout 10m d-01JE0000000000000000000000'],
  notes: ['One prints its answer as `cmo run` does; several print a line each as they end, and exit 6 unless all succeeded.', 'Ctrl-C cancels what is waited for. A closed terminal or SIGTERM does not.'],
  async run({ values, words }, context) {
    const ids = await idsOf(words, context);
    const attended = await attend(new DaemonClient(context.paths), { ids, forMs: values.timeout ?? null, ...(ids.length > 1 && { onEnd: (envelope) => printEnd(context, envelope) }) }, context);
    return printAttended(context, ids, attended);
  },
});
