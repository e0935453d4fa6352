import { CmoError, errorBody, ERRORS, isEnded, type Envelope } from '#contract';
import { readBatchData } from '../client/batch.js';
import { DaemonClient } from '../client/daemon.js';
import { alone, idsOf, someWords } from '../client/on-record.js';
import { command } from '../command.js';
import { exitOfEnvelope } from '../exit-code.js';
import { OUTPUT_FLAGS, valued } from '../flags/flag.js';
import { batchName } from '../flags/readers.js';
import { FORMAT_FLAGS, formatOf, handOver, handOverCensus } from '../output/batch-format.js';
import { summaryLine } from '../output/envelope-text.js';
import { errorText } from '../output/error-text.js';
import { printJson } from '../output/json.js';
import { printBatch } from '../output/print-batch.js';
import { printEnvelope } from '../output/print-envelope.js';

export const result = command({
  name: 'result',
  summary: 'print the answer of a dispatch',
  words: { shown: 'ID', min: 0, max: 1 },
  flags: {
    batch: valued('--batch', 'NAME', batchName, 'every answer of this batch'),
    ...FORMAT_FLAGS,
    ...OUTPUT_FLAGS,
  },
  output: 'json-in-pipes',
  schema: 'cmo.envelope/1',
  examples: [
    'cmo result d-01JE0000000000000000000000',
    'cmo result --batch night --format dir --out answers',
    'cmo result --human d-01JE0000000000000000000000 > answer.md',
  ],
  notes: ['Exits as `cmo run` would have; 7 while it goes on.'],
  async run({ values, words }, context) {
    const handing = formatOf(values, context);
    if (values.batch !== undefined) {
      const data = await readBatchData(new DaemonClient(context.paths), alone(values.batch, words), context);
      if (handing)
        for (const envelope of data.dispatches) if (isEnded(envelope.state)) handOver(envelope, handing, context);
      if (handing) handOverCensus(data, handing, context);
      return printBatch(context, data, { each: true, handed: handing !== null });
    }
    const [id] = await idsOf(someWords(words, 'result'), context);
    const outcome = await new DaemonClient(context.paths).call<Envelope>({
      method: 'GET',
      path: `/v1/dispatches/${id ?? ''}`,
      daemon: 'start',
    });
    if (!outcome.ok) throw new CmoError(outcome.error);
    const envelope = outcome.data;
    if (isEnded(envelope.state)) {
      await printEnvelope(context, envelope, { summary: false });
      return exitOfEnvelope(envelope);
    }
    const error = errorBody('CMO_E_WAIT_TIMEOUT', `it has not ended: ${envelope.state}`, {
      fix: `\`cmo wait ${envelope.dispatchId}\``,
    });
    if (context.json) printJson(context, { ...envelope, error });
    const now = context.now();
    const details = [summaryLine(envelope, context.paintNotes, now)];
    context.output.note(errorText({ ...error, details }, context.paintNotes, now));
    return ERRORS[error.code].exit;
  },
});
