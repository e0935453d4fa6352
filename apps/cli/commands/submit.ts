import { CmoError, isEnded, type SubmitData } from '#contract';
import { batchData } from '../client/batch.js';
import { DaemonClient } from '../client/daemon.js';
import { refreshed } from '../client/refreshed.js';
import { submitted } from '../client/submit.js';
import { command, type Context } from '../command.js';
import { EXIT_BATCH, exitOfEnvelope } from '../exit-code.js';
import { failureLines, summaryLine } from '../output/envelope-text.js';
import { censusText } from '../output/census.js';
import { printData } from '../output/json.js';
import { buildRequest } from '../request/build.js';
import { configOrRefusal } from '../request/config.js';
import { BATCH_FLAGS } from '../request/task-flags.js';
import { taskFrom } from '../request/task-source.js';

export const submit = command({
  name: 'submit',
  summary: 'put one task into the queue and leave',
  words: { shown: 'flags only: the task comes on stdin, by --prompt-file, --dispatch or --batch', min: 0, max: 0 },
  flags: BATCH_FLAGS,
  output: 'json-in-pipes',
  schema: 'cmo.submit/1',
  examples: [
    "echo 'write the changelog' | cmo submit",
    'cmo submit --role research --prompt-file task.md --max-wait 2d',
    'cmo submit --batch tasks.jsonl --batch-name night',
    'cmo submit --batch tasks/ --role research',
  ],
  notes: [
    'It waits for a window as long as it takes, unless --max-wait bounds it.',
    '`cmo wait ID` waits for its end, `cmo result ID` prints its answer.',
    'A line of a batch is an object: {"prompt": "…", "role": "research", "context-tokens": 9000}; flags given here win over it. If an entry is wrong it is named, and none is queued.',
  ],
  async run({ values }, context) {
    const config = configOrRefusal(context);
    const client = new DaemonClient(context.paths);
    if (values.batch !== undefined) {
      const { buildBatch, withNames } = await import('../request/build-batch.js');
      const batch = await buildBatch(
        values.batch,
        values,
        { command: 'submit', class: 'batch', maxWaitMs: null },
        config,
        context,
      );
      const outcome = await submitted(client, batch.requests, batch.once);
      if (!outcome.ok) throw new CmoError(withNames(batch, outcome.error));
      return printBatch(outcome.data, outcome.data.dispatches[0]?.batch ?? batch.name, context);
    }
    const source = await taskFrom('submit', values, context);
    const request = await buildRequest(
      source,
      { command: 'submit', class: 'normal', maxWaitMs: null },
      config,
      context,
    );
    await refreshed([source.told.values], context);
    const outcome = await submitted(client, [request]);
    if (!outcome.ok) throw new CmoError(outcome.error);
    const [envelope] = outcome.data.dispatches;
    if (context.json) printData(context, 'cmo.submit/1', outcome.data);
    else if (envelope) {
      context.output.line(summaryLine(envelope, context.paint, context.now()));
      for (const warning of envelope.warnings ?? []) context.output.note(context.paintNotes.yellow(`cmo: ${warning}`));
      for (const line of failureLines(envelope, context.paintNotes, context.now())) context.output.note(line);
      if (!isEnded(envelope.state)) context.output.note(`next: cmo wait ${envelope.dispatchId}`);
    }
    return envelope && isEnded(envelope.state) ? exitOfEnvelope(envelope) : 0;
  },
});

function printBatch({ dispatches }: SubmitData, batch: string, context: Context): number {
  const data = batchData(batch, dispatches);
  if (context.json) printData(context, 'cmo.submit/1', data);
  else {
    context.output.line(`batch ${batch}: ${censusText(data.census)}`);
    context.output.note(`next: cmo wait --batch ${batch}`);
  }
  return dispatches.some(({ state, ok }) => isEnded(state) && !ok) ? EXIT_BATCH : 0;
}
