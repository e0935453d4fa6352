import type { DispatchRequest, ErrorBody } from '#contract';
import { attend, type Submitted } from '../client/attend.js';
import { DaemonClient } from '../client/daemon.js';
import { refreshed } from '../client/refreshed.js';
import { submitted } from '../client/submit.js';
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
    'A dispatch file is a line DISPATCH, lines `key: value` (named like the flags), a line TASK, then the task; a flag wins over its key.',
    'It defers (exit 3) when no lane is usable now; with --max-wait it waits for a window.',
    'Ctrl-C cancels it. A closed terminal or SIGTERM does not: `cmo wait ID` waits for it again.',
    'With --batch it waits for windows as long as it takes, prints a line as each dispatch ends, and exits 6 unless all succeeded.',
  ],
  async run({ values }, context) {
    const config = configOrRefusal(context);
    const client = new DaemonClient(context.paths);
    if (values.batch !== undefined) {
      const { buildBatch, withNames } = await import('../request/build-batch.js');
      const batch = await buildBatch(
        values.batch,
        values,
        { command: 'run', class: 'batch', maxWaitMs: null },
        config,
        context,
      );
      let [ids, name] = [batch.requests.map(({ id }) => id), batch.name];
      const submit = async (): Promise<Submitted> => {
        const taken = await sent(client, batch.requests, batch.once);
        if (!taken.ok) return { ok: false, error: withNames(batch, taken.error) };
        [ids, name] = [taken.ids, taken.batch ?? name];
        return taken;
      };
      const attended = await attend(
        client,
        { ids, submit, forMs: null, onEnd: (envelope) => printEnd(context, envelope) },
        context,
      );
      return printAttended(context, ids, attended, name);
    }
    const interactive = context.output.stderrIsTerminal && !context.env['CMO_ATTEMPT'];
    const source = await taskFrom('run', values, context);
    const request = await buildRequest(
      source,
      { command: 'run', class: interactive ? 'interactive' : 'normal', maxWaitMs: 0 },
      config,
      context,
    );
    await refreshed([source.told.values], context);
    let ids = [request.id];
    const submit = async (): Promise<Submitted> => {
      const taken = await sent(client, [request]);
      if (taken.ok) ids = taken.ids;
      return taken;
    };
    const attended = await attend(client, { ids, submit, forMs: null }, context);
    return printAttended(context, ids, attended);
  },
});

type Taken =
  | {
      ok: true;
      ids: string[];
      /** The batch that they belong to on record; another than asked for when a `--once` key was used before. */
      batch: string | null;
    }
  | { ok: false; error: ErrorBody };

async function sent(client: DaemonClient, dispatches: DispatchRequest[], once?: string): Promise<Taken> {
  const outcome = await submitted(client, dispatches, once);
  if (!outcome.ok) return outcome;
  const taken = outcome.data.dispatches;
  return { ok: true, ids: [...new Set(taken.map(({ dispatchId }) => dispatchId))], batch: taken[0]?.batch ?? null };
}
