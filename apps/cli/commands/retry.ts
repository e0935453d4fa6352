import { CmoError, isEnded, NUMBERS, type RetryData } from '#contract';
import { DaemonClient } from '../client/daemon.js';
import { confirmed, pickedOf, SELECT_FLAGS } from '../client/selection.js';
import { command } from '../command.js';
import { OUTPUT_FLAGS, valued } from '../flags/flag.js';
import { durationOrForever } from '../flags/readers.js';
import { printData } from '../output/json.js';
import { sixteenRandomBytes } from '../request/random.js';

/** Ids that the hint says whole. */
const NAMED = 3;

export const retry = command({
  name: 'retry',
  summary: 'run what has ended once more, as new dispatches',
  words: { shown: 'ID…', min: 0, max: 10_000 },
  flags: {
    ...SELECT_FLAGS,
    maxWait: valued(
      '--max-wait',
      'DUR',
      durationOrForever(NUMBERS.maxWaitMs.min, NUMBERS.maxWaitMs.max),
      'wait at most this long for a window (default forever): 90, 15m, 8h, 2d',
    ),
    ...OUTPUT_FLAGS,
  },
  output: 'json-in-pipes',
  schema: 'cmo.retry/1',
  examples: [
    'cmo retry d-01JE0000000000000000000000',
    'cmo retry --batch night',
    'cmo retry --batch night --state failed,timed_out --yes && cmo wait --batch night',
  ],
  notes: [
    'A selection takes only what ended without an answer and was not retried yet, unless --state says otherwise. It shows how many match and asks before it retries them.',
    'Each is decided afresh, from the same task and environment, and replaces in its batch the one that it retries.',
  ],
  async run({ values, words }, context) {
    const picked = await pickedOf('retry', values, words, context);
    const nonce = Buffer.from(await sixteenRandomBytes()).toString('hex');
    const call = {
      ...picked,
      nonce,
      at: context.now(),
      maxWaitMs: values.maxWait ?? null,
    };
    const client = new DaemonClient(context.paths);
    const post = async (dryRun: boolean): Promise<RetryData> => {
      const outcome = await client.call<RetryData>({
        method: 'POST',
        path: '/v1/retry',
        body: { ...call, dryRun },
        daemon: 'start',
        timeoutMs: 600_000,
      });
      if (!outcome.ok) throw new CmoError(outcome.error);
      return outcome.data;
    };
    const data =
      'select' in picked && !(await confirmed('retry', await post(true), values, context))
        ? { matched: 0, states: {}, dispatches: [] }
        : await post(false);
    if (context.json) printData(context, 'cmo.retry/1', data);
    else
      for (const { id, retryOf, state } of data.dispatches)
        context.output.line(`${id} ${state}, in place of ${retryOf}`);
    const open = data.dispatches.filter(({ state }) => !isEnded(state)).map(({ id }) => id);
    if (open.length > 0) context.output.note(`next: cmo wait ${waitWords(open, values.batch)}`);
    return 0;
  },
});

/** What to wait for: the batch, else the first of the ids. */
function waitWords(ids: readonly string[], batch: string | undefined): string {
  if (batch !== undefined) return `--batch ${batch}`;
  return [...ids.slice(0, NAMED), ...(ids.length > NAMED ? ['…'] : [])].join(' ');
}
