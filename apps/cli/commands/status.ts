import { CmoError, type StatusData } from '#contract';
import { DaemonClient } from '../client/daemon.js';
import { lastEndOf } from '../client/last-end.js';
import { command } from '../command.js';
import { OUTPUT_FLAGS } from '../flags/flag.js';
import { printData } from '../output/json.js';
import { lastEndText } from '../output/last-end-text.js';
import { statusText } from '../output/status-text.js';
import { fitted } from '../output/table.js';

export const status = command({
  name: 'status',
  summary: 'the daemon, its Redis, lanes and windows',
  words: { shown: '', min: 0, max: 0 },
  flags: OUTPUT_FLAGS,
  output: 'human',
  schema: 'cmo.status/1',
  examples: ['cmo status', 'cmo status --json'],
  notes: ['It asks a daemon that runs, and starts none.'],
  async run(_input, context) {
    const data = await askStatus(context.paths);
    const now = context.now();
    const ended = await lastEndOf(context.paths, now, data !== null);
    if (context.json) {
      printData(context, 'cmo.status/1', data === null ? { up: false, ended } : { up: true, ...data, ended });
      return 0;
    }
    const { columns } = context.output;
    const lines =
      data === null
        ? [
            'the daemon does not run: `cmo up` starts it, or the next command that needs it (run, submit, ls, show, wait, …)',
          ]
        : statusText(data, context.paint, now, columns);
    if (ended !== null) lines.push(`earlier  ${context.paint.yellow(lastEndText(ended, now))}`);
    for (const text of fitted(lines, columns, 9)) context.output.line(text);
    return 0;
  },
});

/** Null: no daemon runs. */
export async function askStatus(paths: ConstructorParameters<typeof DaemonClient>[0]): Promise<StatusData | null> {
  const outcome = await new DaemonClient(paths, undefined, 3_000).call<StatusData>({
    method: 'GET',
    path: '/v1/status',
    timeoutMs: 10_000,
    daemon: 'never',
  });
  if (outcome.ok) return outcome.data;
  if (outcome.error.code === 'CMO_E_DAEMON' && outcome.error.message.includes('does not run')) return null;
  throw new CmoError(outcome.error);
}
