import { CmoError, errorBody, ERRORS, isEnded, type CancelData, type Envelope, type State } from '#contract';
import { DaemonClient } from '../client/daemon.js';
import { follow } from '../client/follow.js';
import { idsOf } from '../client/on-record.js';
import { command } from '../command.js';
import { OUTPUT_FLAGS } from '../flags/flag.js';
import { errorText } from '../output/error-text.js';
import { printData, printJson } from '../output/json.js';

/** Its node has to end the agent's whole tree: TERM, five seconds, KILL. */
const PATIENCE_MS = 15_000;

export const cancel = command({
  name: 'cancel',
  summary: 'end a dispatch, and its agent with it',
  words: { shown: 'ID', min: 1, max: 1 },
  flags: OUTPUT_FLAGS,
  output: 'human',
  schema: 'cmo.cancel/1',
  examples: ['cmo cancel d-01JE0000000000000000000000'],
  notes: ['It waits up to 15 seconds for the end; exit 7 when the agent was asked but has not ended by then.', 'One that has ended already stays as it ended: exit 0.'],
  async run({ words }, context) {
    const [id = ''] = await idsOf(words, context);
    const client = new DaemonClient(context.paths);
    const asked = await client.call<CancelData>({ method: 'POST', path: `/v1/dispatches/${id}/cancel`, body: {}, daemon: 'start' });
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
    const error = errorBody('CMO_E_WAIT_TIMEOUT', `asked, but it has not ended within ${PATIENCE_MS / 1000} s`, {
      details: [`its agent runs on ${home ?? 'a node that has not answered'}; it ends as soon as that node's daemon reads the request`],
      fix: `\`cmo show ${id}\` says how it stands; is the daemon of that node up?`,
    });
    if (context.json) printJson(context, { schema: 'cmo.cancel/1', ok: false, data, error });
    context.output.note(errorText(error, context.paintNotes));
    return ERRORS[error.code].exit;
  },
});

function nodeOf(envelope: Envelope): string | null {
  return envelope.attempts.at(-1)?.node ?? null;
}
