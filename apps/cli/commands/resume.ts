import { CmoError, errorBody, type ControlData } from '#contract';
import { say } from '../client/control.js';
import { DaemonClient } from '../client/daemon.js';
import { command, type Context } from '../command.js';
import { on, OUTPUT_FLAGS } from '../flags/flag.js';
import { controlLines } from '../output/control-text.js';
import { printData } from '../output/json.js';
import { durationText } from '../output/time-text.js';

export const resume = command({
  name: 'resume',
  summary: 'end a pause, or all of them and the drain of this box',
  words: { shown: 'LANE', min: 0, max: 1 },
  flags: { all: on('--all', 'every pause, and the drain of this box'), ...OUTPUT_FLAGS },
  output: 'human',
  schema: 'cmo.control/1',
  examples: ['cmo resume codex', 'cmo resume --all'],
  async run({ values, words }, context) {
    const [lane] = words;
    if ((lane === undefined) === (values.all === undefined))
      throw new CmoError(errorBody('CMO_E_USAGE', 'name a lane, or give --all', { fix: 'see `cmo help resume`' }));
    const client = new DaemonClient(context.paths);
    const before = await say(client, 'control');
    const left = await say(client, 'resume', { lane: lane ?? null });
    const taken = takenBack(before, left);
    if (context.json) printData(context, 'cmo.control/1', { ...left, resumed: taken });
    else for (const text of resumedLines(taken, left, lane, context)) context.output.line(text);
    return 0;
  },
});

type Taken = Pick<ControlData, 'pauses' | 'drains'>;

function takenBack(before: Taken, left: Taken): Taken {
  return {
    pauses: before.pauses.filter(({ lane }) => !left.pauses.some((one) => one.lane === lane)),
    drains: before.drains.filter(({ node }) => !left.drains.some((one) => one.node === node)),
  };
}

/** What was taken back; and what still stands, so that nobody waits for a lane that another word keeps shut. */
function resumedLines(
  { pauses, drains }: Taken,
  left: ControlData,
  lane: string | undefined,
  context: Context,
): string[] {
  const now = context.now();
  const lines = [
    ...pauses.map((one) => [one.lane === null ? 'every lane' : `lane ${one.lane}`, 'paused', one] as const),
    ...drains.map((one) => [one.node, 'drained', one] as const),
  ].map(
    ([what, how, { reason, since }]) =>
      `${context.paint.green('resumed')}  ${what}, which was ${how} for ${durationText(now - since)}: ${reason}`,
  );
  const none = lane === undefined ? 'nothing was paused or drained here' : `${lane} was not paused`;
  return [...(lines.length > 0 ? lines : [none]), ...controlLines({ ...left, slots: [] }, context.paint, now)];
}
