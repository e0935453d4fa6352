import { join } from 'node:path';
import { CmoError, VERSION, type HealthData, type StatusData } from '#contract';
import { DaemonClient } from '../client/daemon.js';
import { lastEndOf } from '../client/last-end.js';
import { askStatus } from '../commands/status.js';
import { controlLines } from '../output/control-text.js';
import { lastEndText } from '../output/last-end-text.js';
import { paintFor } from '../output/paint.js';
import { durationText } from '../output/time-text.js';
import { fail, ok, skipped, warn, type Patient, type Row } from './row.js';

/** The daemon: up, of this version, ready to work, and not held back by a pause, a drain or zero slots. */
export async function checkDaemon({ context }: Patient): Promise<Row[]> {
  const rows = await daemonRows(context);
  const ended = await lastEndOf(
    context.paths,
    context.now(),
    rows.some(({ status }) => status !== 'skipped'),
  );
  return ended === null
    ? rows
    : [
        ...rows,
        warn(
          'daemon:ended',
          lastEndText(ended, context.now()),
          `read ${join(context.paths.logs, 'daemon.log')}, and daemon.err beside it`,
        ),
      ];
}

async function daemonRows(context: Patient['context']): Promise<Row[]> {
  try {
    const status = await askStatus(context.paths);
    if (status === null) return [await notRunning(context.paths)];
    const seen = upText(status, context.now());
    if (status.version !== VERSION)
      return [
        warn('daemon', `version ${status.version}, this is ${VERSION}; ${seen}`, 'the next run or submit replaces it'),
      ];
    const [warning] = status.redis.warnings;
    const row =
      warning === undefined ? ok('daemon', seen) : warn('daemon', `${warning}; ${seen}`, 'set it in that Redis');
    return [row, ...(await notReady(context)), ...heldBack(status.control, context.now())];
  } catch (error) {
    if (error instanceof CmoError && error.body.code === 'CMO_E_REDIS')
      return [
        fail(
          'daemon',
          [error.body.message, ...(error.body.details ?? [])].join('; '),
          `start that Redis, or read ${context.paths.logs}; work goes on by itself once it answers`,
        ),
      ];
    return [
      fail(
        'daemon',
        (error as Error).message,
        `read ${join(context.paths.logs, 'daemon.log')}, then \`cmo down\` and \`cmo up\``,
      ),
    ];
  }
}

function upText({ startedAt, pid, running, redis }: StatusData, now: number): string {
  const server = redis.version === null ? 'Redis' : `Redis ${redis.version}`;
  return `up for ${durationText(now - Date.parse(startedAt))}, pid ${pid}, ${running} running, ${server} at ${redis.address}`;
}

/** Why the last start failed, if it did: errors too long for one line send people here. */
async function notRunning({ state, logs }: Patient['context']['paths']): Promise<Row> {
  const { readStartupError } = await import('#daemon/client');
  const failed = readStartupError(state)?.error;
  if (!failed) return skipped('daemon', 'it does not run; the first run or submit starts it');
  const fix = failed.fix.includes('`cmo doctor`') ? `read ${join(logs, 'daemon.log')}` : failed.fix;
  return warn(
    'daemon',
    `it does not run, and its last start failed: ${[failed.message, ...(failed.details ?? [])].join('; ')}`,
    `${fix}; \`cmo up\` tries again`,
  );
}

/** It answers, and yet no work moves. Older daemons don't have this endpoint. */
async function notReady({ paths }: Patient['context']): Promise<Row[]> {
  const ready = await new DaemonClient(paths, undefined, 0).call<HealthData>({
    method: 'GET',
    path: '/readyz',
    timeoutMs: 10_000,
    daemon: 'never',
  });
  if (ready.ok || (ready.error.code !== 'CMO_E_REDIS' && ready.error.code !== 'CMO_E_DAEMON')) return [];
  return [ready.error.message, ...(ready.error.details ?? [])].map((problem) =>
    fail(
      'daemon:ready',
      problem,
      `\`cmo down\`, then \`cmo up\`: agents go on; the reason is in ${join(paths.logs, 'daemon.log')}`,
    ),
  );
}

/** Pauses, drains and zero slots hold work back as surely as a fault does. An older daemon does not report them. */
function heldBack(control: StatusData['control'] | undefined, now: number): Row[] {
  if (!control) return [];
  const row = (of: Partial<StatusData['control']>, fix: string): Row[] =>
    controlLines({ pauses: [], drains: [], slots: [], ...of }, paintFor(false), now).map((line) =>
      warn('daemon:held', line.replace(/ +/g, ' '), fix),
    );
  return [
    ...control.pauses.flatMap((pause) => row({ pauses: [pause] }, `\`cmo resume ${pause.lane ?? '--all'}\``)),
    ...control.drains.flatMap((drain) => row({ drains: [drain] }, `\`cmo resume --all\`, typed on ${drain.node}`)),
    ...control.slots
      .filter(({ atOnce }) => atOnce === 0)
      .flatMap((slots) =>
        row({ slots: [slots] }, `\`cmo slots --${slots.of} ${slots.of === 'dark' ? '' : `${slots.name}=`}default\``),
      ),
  ];
}
