import { CmoError, type SubmitData } from '#contract';
import { DaemonClient } from '../client/daemon.js';
import { command } from '../command.js';
import { exitOfEnvelope } from '../exit-code.js';
import { failureLines, summaryLine } from '../output/envelope-text.js';
import { printData } from '../output/json.js';
import { buildRequest } from '../request/build.js';
import { configOrRefusal } from '../request/config.js';
import { TASK_FLAGS } from '../request/task-flags.js';
import { isEnded } from '#contract';

export const submit = command({
  name: 'submit',
  summary: 'put one task into the queue and leave',
  words: { shown: 'flags only: the task comes on stdin or by --prompt-file', min: 0, max: 0 },
  flags: TASK_FLAGS,
  output: 'json-in-pipes',
  schema: 'cmo.submit/1',
  examples: ["echo 'write the changelog' | cmo submit", 'cmo submit --role research --prompt-file task.md --max-wait 2d'],
  notes: ['It waits for a window as long as it takes, unless --max-wait bounds it.', '`cmo wait ID` waits for its end, `cmo result ID` prints its answer.'],
  async run({ values }, context) {
    const config = configOrRefusal(context);
    const request = await buildRequest(values, { command: 'submit', class: 'normal', maxWaitMs: null }, config, context);
    const outcome = await new DaemonClient(context.paths).call<SubmitData>({ method: 'POST', path: '/v1/dispatches', body: { dispatches: [request] }, daemon: 'start' });
    if (!outcome.ok) throw new CmoError(outcome.error);
    const [envelope] = outcome.data.dispatches;
    if (context.json) printData(context, 'cmo.submit/1', outcome.data);
    else if (envelope) {
      context.output.line(summaryLine(envelope, context.paint, context.now()));
      for (const line of failureLines(envelope, context.paintNotes, context.now())) context.output.note(line);
      if (!isEnded(envelope.state)) context.output.note(`next: cmo wait ${envelope.dispatchId}`);
    }
    return envelope && isEnded(envelope.state) ? exitOfEnvelope(envelope) : 0;
  },
});
