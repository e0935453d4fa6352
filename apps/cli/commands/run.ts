import type { SubmitData } from '#contract';
import { attend } from '../client/attend.js';
import { DaemonClient } from '../client/daemon.js';
import { command } from '../command.js';
import { printAttended } from '../output/print-attended.js';
import { buildRequest } from '../request/build.js';
import { configOrRefusal } from '../request/config.js';
import { TASK_FLAGS } from '../request/task-flags.js';

/** Submit and wait, the same way as the two commands: what it started goes on without it. */
export const run = command({
  name: 'run',
  summary: 'run one task and wait for its answer',
  words: { shown: 'flags only: the task comes on stdin or by --prompt-file', min: 0, max: 0 },
  flags: TASK_FLAGS,
  output: 'json-in-pipes',
  schema: 'cmo.envelope/1',
  examples: [
    "echo 'why is the build slow?' | cmo run --role research",
    'cmo run --role implement --complexity 4 --prompt-file task.md',
    'cmo run --role judge --independent-of codex --schema verdict.json --max-wait 8h < review.md',
  ],
  notes: [
    'It defers (exit 3) when no lane is usable now; with --max-wait it waits for the window.',
    'Ctrl-C cancels it. A closed terminal or SIGTERM does not: `cmo wait ID` takes it up again.',
  ],
  async run({ values }, context) {
    const config = configOrRefusal(context);
    const interactive = context.output.stderrIsTerminal && !context.env['CMO_ATTEMPT'];
    const request = await buildRequest(values, { command: 'run', class: interactive ? 'interactive' : 'normal', maxWaitMs: 0 }, config, context);
    const client = new DaemonClient(context.paths);
    const submit = async () => {
      const outcome = await client.call<SubmitData>({ method: 'POST', path: '/v1/dispatches', body: { dispatches: [request] }, daemon: 'start' });
      return outcome.ok ? null : outcome.error;
    };
    return printAttended(context, [request.id], await attend(client, { ids: [request.id], submit, forMs: null }, context));
  },
});
