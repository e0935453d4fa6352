import { CmoError, errorBody } from '#contract';
import { printControl, say } from '../client/control.js';
import { DaemonClient } from '../client/daemon.js';
import { command } from '../command.js';
import { on, OUTPUT_FLAGS } from '../flags/flag.js';

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
    printControl(
      context,
      await say(new DaemonClient(context.paths), 'resume', { lane: lane ?? null }),
      'nothing is paused',
    );
    return 0;
  },
});
