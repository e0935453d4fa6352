import { statSync } from 'node:fs';
import { CmoError, type StatusData } from '#contract';
import { clearTakenDown, markTakenDown } from '../client/taken-down.js';
import { command } from '../command.js';
import { on, OUTPUT_FLAGS } from '../flags/flag.js';
import { printData } from '../output/json.js';
import { askStatus } from './status.js';

export const down = command({
  name: 'down',
  summary: 'stop daemon and Redis; agents go on and are adopted',
  words: { shown: '', min: 0, max: 0 },
  flags: { kill: on('--kill', 'end the running agents first'), ...OUTPUT_FLAGS },
  output: 'human',
  schema: 'cmo.down/1',
  examples: ['cmo down', 'cmo down --kill'],
  notes: [
    'Without --kill the agents that run go on; `cmo up`, or the next command that needs the daemon, adopts them.',
    'What waits stays in the queue and starts with the next daemon; `cmo pause --all --reason TEXT` before it holds it back.',
  ],
  async run({ values }, context) {
    const kill = values.kill ?? false;
    let pid: number | null = null;
    let standing: StatusData | null = null;
    if (statSync(context.paths.state, { throwIfNoEntry: false })?.isDirectory()) {
      markTakenDown(context.paths);
      // What it leaves behind is worth a word, but never stands in the way of stopping it.
      if (!context.json) standing = await askStatus(context.paths).catch(() => null);
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
          : `the daemon (pid ${pid}) is down${kill ? ', its agents were ended' : '; agents that run go on'}${standing === null ? '' : leftText(standing, kill)}`,
      );
    return 0;
  },
});

/** Whoever stops it must know that the next look at the queue starts it again, and with it what waits. */
function leftText({ running, counts: { queued, retrying } }: StatusData, kill: boolean): string {
  const waiting = queued + retrying;
  const parts = [
    ...(running > 0 && !kill ? [`${running} running`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
  ];
  return parts.length === 0
    ? ''
    : ` (${parts.join(', ')}): \`cmo up\`, or the next command that needs it, takes them up`;
}
