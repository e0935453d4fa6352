import { CmoError, errorBody } from '#contract';
import { printControl, say } from '../client/control.js';
import { DaemonClient } from '../client/daemon.js';
import { command } from '../command.js';
import { on, OUTPUT_FLAGS, valued } from '../flags/flag.js';
import { moment, reason } from '../flags/readers.js';

export const pause = command({
  name: 'pause',
  summary: 'start nothing on a lane, or on any, until you resume it',
  words: { shown: 'LANE', min: 0, max: 1 },
  flags: {
    all: on('--all', 'every lane, on every box'),
    reason: valued('--reason', 'TEXT', reason, 'why (required); it is shown wherever work waits for it'),
    until: valued('--until', 'WHEN', moment, 'when it ends by itself: 15m, 8h, 09:00, 2026-12-01T09:00'),
    ...OUTPUT_FLAGS,
  },
  output: 'human',
  schema: 'cmo.control/1',
  examples: [
    "cmo pause codex --reason 'I need it myself' --until 09:00",
    "cmo pause --all --reason 'the repository is being moved'",
  ],
  notes: [
    'What runs goes on; what waits moves to another lane if one is permitted, and otherwise waits.',
    'It outlives the daemon and a reboot. `cmo resume LANE` or `cmo resume --all` ends it.',
  ],
  async run({ values, words }, context) {
    const [lane] = words;
    if ((lane === undefined) === (values.all === undefined))
      throw new CmoError(errorBody('CMO_E_USAGE', 'name a lane, or give --all', { fix: 'see `cmo help pause`' }));
    if (values.reason === undefined)
      throw new CmoError(
        errorBody('CMO_E_USAGE', 'say why, with --reason: people who find their work waiting will ask', {
          fix: 'see `cmo help pause`',
        }),
      );
    const body = {
      lane: lane ?? null,
      reason: values.reason,
      ...(values.until !== undefined && { until: values.until }),
    };
    printControl(context, await say(new DaemonClient(context.paths), 'pause', body));
    return 0;
  },
});
