import {
  CmoError,
  errorBody,
  ERRORS,
  isEnded,
  type CancelData,
  type CancelManyData,
  type Envelope,
  type Matched,
  type Picked,
  type State,
} from '#contract';
import { DaemonClient } from '../client/daemon.js';
import { follow } from '../client/follow.js';
import { pooled } from '../client/pooled.js';
import { confirmed, matchedText, pickedOf, SELECT_FLAGS } from '../client/selection.js';
import { command, type Context } from '../command.js';
import { OUTPUT_FLAGS } from '../flags/flag.js';
import { errorText } from '../output/error-text.js';
import { printData, printJson } from '../output/json.js';

/** Its node has to end the agent's whole tree: TERM, five seconds, KILL. */
const PATIENCE_MS = 15_000;

export const cancel = command({
  name: 'cancel',
  summary: 'end dispatches, and their agents with them',
  words: { shown: 'ID…', min: 0, max: 10_000 },
  flags: { ...SELECT_FLAGS, ...OUTPUT_FLAGS },
  output: 'human',
  schema: 'cmo.cancel/1',
  examples: [
    'cmo cancel d-01JE0000000000000000000000',
    'cmo cancel --batch night',
    'cmo cancel --label wave=2 --state queued --yes',
  ],
  notes: [
    'It waits up to 15 seconds for the end; exit 7 when an agent was asked but has not ended by then.',
    'One that has ended already stays as it ended: exit 0.',
    'A selection takes only what has not ended, unless --state says otherwise. It shows how many match and asks before it cancels them.',
  ],
  async run({ values, words }, context) {
    const picked = await pickedOf('cancel', values, words, context);
    const client = new DaemonClient(context.paths);
    if ('ids' in picked && picked.ids.length === 1) return cancelOne(client, picked.ids[0] ?? '', context);
    return cancelMany(client, picked, values, context);
  },
});

async function cancelMany(
  client: DaemonClient,
  picked: Picked,
  said: { yes?: true },
  context: Context,
): Promise<number> {
  const post = async (dryRun: boolean): Promise<CancelManyData> => {
    const outcome = await client.call<CancelManyData>({
      method: 'POST',
      path: '/v1/cancel',
      body: { ...picked, dryRun },
      daemon: 'start',
      timeoutMs: 600_000,
    });
    if (!outcome.ok) throw new CmoError(outcome.error);
    return outcome.data;
  };
  const matched: Matched = 'select' in picked ? await post(true) : { matched: picked.ids.length, states: {} };
  if ('select' in picked && !(await confirmed('cancel', matched, said, context))) {
    if (context.json) printData(context, 'cmo.cancel/1', { ...matched, cancelled: 0, alreadyEnded: 0, asked: [] });
    return 0;
  }
  const data = await post(false);
  const followed = await pooled(data.asked, (id) => follow(client, id, { forMs: PATIENCE_MS, pollMs: PATIENCE_MS }));
  const open = followed.flatMap((one, i) => (one.kind === 'ended' ? [] : [data.asked[i] ?? '']));
  const done: CancelManyData = { ...data, cancelled: data.cancelled + data.asked.length - open.length, asked: open };
  const error =
    open.length === 0
      ? null
      : errorBody(
          'CMO_E_WAIT_TIMEOUT',
          `${open.length} were asked to end, but have not within ${PATIENCE_MS / 1000} s`,
          { details: open.slice(0, 20), fix: 'they end as soon as the daemons of their nodes read the request' },
        );
  if (context.json && error) printJson(context, { schema: 'cmo.cancel/1', ok: false, data: done, error });
  else if (context.json) printData(context, 'cmo.cancel/1', done);
  else context.output.line(cancelledText(done));
  if (error) context.output.note(errorText(error, context.paintNotes, context.now()));
  return error ? ERRORS[error.code].exit : 0;
}

function cancelledText(data: CancelManyData): string {
  const parts = [`${data.cancelled} cancelled`];
  if (data.alreadyEnded > 0) parts.push(`${data.alreadyEnded} had ended already`);
  return [...parts, `of ${matchedText(data)}`].join(', ');
}

async function cancelOne(client: DaemonClient, id: string, context: Context): Promise<number> {
  const asked = await client.call<CancelData>({
    method: 'POST',
    path: `/v1/dispatches/${id}/cancel`,
    body: {},
    daemon: 'start',
  });
  if (!asked.ok) throw new CmoError(asked.error);
  let { how, state }: { how: CancelData['how']; state: State } = asked.data;
  let home: string | null = null;
  if (how === 'asked') {
    const followed = await follow(client, id, { forMs: PATIENCE_MS, pollMs: PATIENCE_MS });
    if (followed.kind === 'lost') throw new CmoError(followed.error);
    if (followed.kind !== 'left') {
      state = followed.envelope.state;
      home = nodeOf(followed.envelope);
    }
    if (state === 'cancelled') how = 'cancelled';
  }
  const data: CancelData = { id, state, how };
  if (isEnded(state)) {
    if (context.json) printData(context, 'cmo.cancel/1', data);
    else context.output.line(how === 'cancelled' ? `${id} cancelled` : `${id} had ended already: ${state}`);
    return 0;
  }
  const error = errorBody('CMO_E_WAIT_TIMEOUT', `asked to end, but it has not within ${PATIENCE_MS / 1000} s`, {
    details: [
      `its agent runs on ${home ?? 'a node that has not answered'}; it ends as soon as that node's daemon reads the request`,
    ],
    fix: `\`cmo show ${id}\` shows its state; is the daemon of that node up?`,
  });
  if (context.json) printJson(context, { schema: 'cmo.cancel/1', ok: false, data, error });
  context.output.note(errorText(error, context.paintNotes, context.now()));
  return ERRORS[error.code].exit;
}

function nodeOf(envelope: Envelope): string | null {
  return envelope.attempts.at(-1)?.node ?? null;
}
