import { CmoError } from '#contract';
import { clearTakenDown, markTakenDown } from '../client/taken-down.js';
import { command } from '../command.js';
import { on, OUTPUT_FLAGS } from '../flags/flag.js';
import { printData } from '../output/json.js';
import { statSync } from 'node:fs';

export const down = command({
  name: 'down',
  summary: 'stop daemon and Redis; agents go on and are adopted',
  words: { shown: '', min: 0, max: 0 },
  flags: { kill: on('--kill', 'end the running agents first'), ...OUTPUT_FLAGS },
  output: 'human',
  schema: 'cmo.down/1',
  examples: ['cmo down', 'cmo down --kill'],
  notes: ['Without --kill running agents go on; the next `cmo up` (or run, or submit) adopts them.'],
  async run({ values }, context) {
    const kill = values.kill ?? false;
    let pid: number | null = null;
    if (statSync(context.paths.state, { throwIfNoEntry: false })?.isDirectory()) {
      markTakenDown(context.paths);
      const { stopDaemon } = await import('#daemon/client');
      const stopped = await stopDaemon(context.paths, { kill });
      if (!stopped.ok) {
        clearTakenDown(context.paths);
        throw new CmoError(stopped.error);
      }
      ({ pid } = stopped);
    }
    if (context.json) printData(context, 'cmo.down/1', { pid, kill });
    else
      context.output.line(
        pid === null
          ? 'no daemon ran'
          : `the daemon (pid ${pid}) is down${kill ? ', its agents were ended' : '; agents that run go on'}`,
      );
    return 0;
  },
});
