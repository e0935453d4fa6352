import { errorBody, ERRORS, type StatusData } from '#contract';
import { say } from '../client/control.js';
import { DaemonClient } from '../client/daemon.js';
import { command, type Context } from '../command.js';
import { EXIT_INTERRUPTED } from '../exit-code.js';
import { OUTPUT_FLAGS, valued } from '../flags/flag.js';
import { duration, reason } from '../flags/readers.js';
import { errorText } from '../output/error-text.js';
import { printData, printJson } from '../output/json.js';
import { listenForSignals, SIGNAL_EXIT } from '../signals.js';
import { askStatus } from './status.js';

const LOOK_MS = 500;
const YEAR_MS = 366 * 86_400_000;

export const drain = command({
  name: 'drain',
  summary: 'start nothing more on this box, and return when nothing runs on it',
  words: { shown: '', min: 0, max: 0 },
  flags: {
    reason: valued('--reason', 'TEXT', reason, 'why; it is shown wherever work waits for it'),
    timeout: valued(
      '--timeout',
      'DUR',
      duration(0, YEAR_MS),
      'stop waiting after this long, exit 7; the box stays drained: 90, 15m, 8h',
    ),
    ...OUTPUT_FLAGS,
  },
  output: 'human',
  schema: 'cmo.drain/1',
  examples: ['cmo drain && sudo reboot', "cmo drain --reason 'a new disk' --timeout 1h"],
  notes: [
    'What waits stays in the queue. The box stays drained across restarts, and also when you interrupt this command, until `cmo resume --all`.',
  ],
  async run({ values }, context) {
    await say(new DaemonClient(context.paths), 'drain', { reason: values.reason ?? 'cmo drain' });
    const until = values.timeout === undefined ? Infinity : performance.now() + values.timeout;
    let left: number | null = null;
    const stop = listenForSignals({
      onInterrupt: () => (left = EXIT_INTERRUPTED),
      onSecondInterrupt: () => (left = EXIT_INTERRUPTED),
      onLeave: (signal) => (left = SIGNAL_EXIT[signal]),
    });
    let told = -1;
    try {
      for (;;) {
        const status = await askStatus(context.paths);
        const running = status === null ? 0 : status.running;
        if (running === 0) return done(context, status);
        if (running !== told) context.output.note(`${running} still running`);
        told = running;
        if (left !== null || performance.now() >= until) return leave(context, running, left);
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    } finally {
      stop();
    }
  },
});

function done(context: Context, status: StatusData | null): number {
  if (context.json) printData(context, 'cmo.drain/1', { node: status?.node ?? null, running: 0 });
  else context.output.line('drained: nothing runs on this box and nothing will be started until `cmo resume --all`');
  return 0;
}

function leave(context: Context, running: number, code: number | null): number {
  const error = errorBody(
    code === null ? 'CMO_E_WAIT_TIMEOUT' : 'CMO_E_INTERRUPTED',
    `${running} still running; the box stays drained`,
    { fix: '`cmo drain` waits again, `cmo resume --all` ends the drain' },
  );
  if (context.json) printJson(context, { schema: 'cmo.drain/1', ok: false, error });
  context.output.note(errorText(error, context.paintNotes, context.now()));
  return code ?? ERRORS.CMO_E_WAIT_TIMEOUT.exit;
}
