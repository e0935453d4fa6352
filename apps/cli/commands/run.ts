import type { DispatchRequest, ErrorBody, SubmitData } from '#contract';
import { attend } from '../client/attend.js';
import { DaemonClient } from '../client/daemon.js';
import { refreshed } from '../client/refreshed.js';
import { command } from '../command.js';
import { printAttended, printEnd } from '../output/print-attended.js';
import { buildRequest } from '../request/build.js';
import { configOrRefusal } from '../request/config.js';
import { BATCH_FLAGS } from '../request/task-flags.js';
import { taskFrom } from '../request/task-source.js';

/** Submit and wait, the same way as the two commands: what it started goes on without it. */
export const run = command({
  name: 'run',
  summary: 'run one task and wait for its answer',
  words: { shown: 'flags only: the task comes on stdin, by --prompt-file, --dispatch or --batch', min: 0, max: 0 },
  flags: BATCH_FLAGS,
  output: 'json-in-pipes',
  schema: 'cmo.envelope/1',
  examples: [
    "echo 'why is the build slow?' | cmo run --role research",
    'cmo run --role implement --complexity 4 --prompt-file task.md',
    'cmo run --dispatch task.md',
    'cmo run --role judge --independent-of codex --schema verdict.json --max-wait 8h < review.md',
  ],
  notes: [
    'A dispatch file is DISPATCH, lines key: value (the flags’ names), TASK, and then the task; a flag wins over its key.',
    'It defers (exit 3) when no lane is usable now; with --max-wait it waits for the window.',
    'Ctrl-C cancels it. A closed terminal or SIGTERM does not: `cmo wait ID` takes it up again.',
    'With --batch it waits for windows as long as it takes, prints a line for each as it ends, and exits 6 unless all succeeded.',
  ],
  async run({ values }, context) {
    const config = configOrRefusal(context);
    const client = new DaemonClient(context.paths);
    if (values.batch !== undefined) {
      const { buildBatch, withNames } = await import('../request/build-batch.js');
      const batch = await buildBatch(values.batch, values, { command: 'run', class: 'batch', maxWaitMs: null }, config, context);
      const ids = batch.requests.map(({ id }) => id);
      const submit = async () => {
        const refused = await sent(client, batch.requests);
        return refused === null ? null : withNames(batch, refused);
      };
      return printAttended(context, ids, await attend(client, { ids, submit, forMs: null, onEnd: (envelope) => printEnd(context, envelope) }, context), batch.name);
    }
    const interactive = context.output.stderrIsTerminal && !context.env['CMO_ATTEMPT'];
    const source = await taskFrom('run', values, context);
    const request = await buildRequest(source, { command: 'run', class: interactive ? 'interactive' : 'normal', maxWaitMs: 0 }, config, context);
    await refreshed([source.told.values], context);
    return printAttended(context, [request.id], await attend(client, { ids: [request.id], submit: () => sent(client, [request]), forMs: null }, context));
  },
});

async function sent(client: DaemonClient, dispatches: DispatchRequest[]): Promise<ErrorBody | null> {
  const outcome = await client.call<SubmitData>({ method: 'POST', path: '/v1/dispatches', body: { dispatches }, daemon: 'start' });
  return outcome.ok ? null : outcome.error;
}
