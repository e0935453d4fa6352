import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CmoError, VERSION, type HealthData, type StatusData } from '#contract';
import { folderProblem, problemText, renderDiagnostics } from '#config';
import { DaemonClient } from '../client/daemon.js';
import { lastEndOf } from '../client/last-end.js';
import { askStatus } from '../commands/status.js';
import { laneProblems } from '../request/lane-problems.js';
import { controlLines } from '../output/control-text.js';
import { paintFor } from '../output/paint.js';
import { lastEndText } from '../output/last-end-text.js';
import { durationText } from '../output/time-text.js';
import { askProgram } from './ask-program.js';
import { childEnvironmentFor } from './child-environment.js';
import { onPath } from './on-path.js';
import { ownRedis } from './own-redis.js';
import { fail, ok, skipped, warn, type Check, type Patient, type Row } from './row.js';

const NEEDED_NODE = [20, 20, 2] as const;
const VERSION_MS = 10_000;
/** Above the floor at which nothing more is taken. */
const LOW_DISK_MB = 300;

/** What the box itself must have. The local things first, so that a broken Redis still yields a report. */
export const BOX_CHECKS: readonly Check[] = [
  { group: 'node', look: () => Promise.resolve([node()]) },
  { group: 'state', look: ({ context, config: { disk } }) => Promise.resolve(state(context.paths, disk.floorMb)) },
  { group: 'config', look: (patient) => Promise.resolve(config(patient)) },
  { group: 'redis', look: async (patient) => [await redis(patient)] },
  { group: 'daemon', look: daemon },
];

function node(): Row {
  const seen = process.versions.node;
  const [major = 0, minor = 0, patch = 0] = seen.split('.').map((part) => Number.parseInt(part, 10));
  const [needMajor, needMinor, needPatch] = NEEDED_NODE;
  const enough =
    major > needMajor || (major === needMajor && (minor > needMinor || (minor === needMinor && patch >= needPatch)));
  return enough
    ? ok('node', `Node ${seen}`)
    : fail(
        'node',
        `Node ${seen}; cmo needs ${NEEDED_NODE.join('.')} or newer`,
        'install a newer Node, for example `nvm install 22`',
      );
}

function state(paths: Patient['context']['paths'], floorMb: number): Row[] {
  const rows: Row[] = [];
  const problem = folderProblem(paths.state);
  if (problem === 'it does not exist') {
    const shut = shutAbove(paths.state);
    rows.push(
      shut === null
        ? ok('state', `${paths.state} will be created by the first run`)
        : fail(
            'state',
            `cannot create ${paths.state}: ${shut}`,
            'make it a folder of yours with mode 0700, or set CMO_STATE_DIR',
          ),
    );
  } else if (problem !== null)
    rows.push(
      fail(
        'state',
        `${paths.state}: ${problem}`,
        problem.startsWith('others may enter')
          ? `chmod 700 '${paths.state}'`
          : 'make it a folder of yours with mode 0700, or set CMO_STATE_DIR',
      ),
    );
  else rows.push(ok('state', paths.state));
  if (paths.sockets !== join(paths.state, 'sockets')) {
    const socketProblem = folderProblem(paths.sockets);
    const told = `the state folder's path is too long for sockets, so they are in ${paths.sockets}`;
    rows.push(
      socketProblem === null || socketProblem === 'it does not exist'
        ? ok('state:sockets', told)
        : fail(
            'state:sockets',
            `${told}: ${socketProblem}`,
            'remove that folder, or set CMO_STATE_DIR to a shorter path',
          ),
    );
  }
  const broken = join(paths.runs, 'broken');
  const aside = existsSync(broken) ? readdirSync(broken).length : 0;
  if (aside > 0)
    rows.push(
      warn(
        'state:broken',
        `unreadable run folders, set aside in ${broken}: ${aside}`,
        `look at them, then remove them; otherwise \`cmo gc\` removes them when they are past retention.runs`,
      ),
    );
  const free = freeMb(paths.state);
  const left = `${Math.round(free ?? 0)} MB are free for ${paths.state}`;
  if (free !== null && free < floorMb)
    rows.push(
      fail(
        'state:disk',
        `${left}; under ${floorMb} MB (disk.floorMb) no more tasks are taken`,
        'make room; `cmo gc --dry-run` says what cmo could remove',
      ),
    );
  else if (free !== null && free < floorMb + LOW_DISK_MB)
    rows.push(warn('state:disk', left, `make room: under ${floorMb} MB (disk.floorMb) no more tasks are taken`));
  return rows;
}

/** Why nothing can be made in the nearest folder above that is there; null: something can. */
function shutAbove(path: string): string | null {
  const above = dirname(path);
  if (!existsSync(above) && above !== path) return shutAbove(above);
  try {
    if (!statSync(above).isDirectory()) return `${above} is not a folder`;
    accessSync(above, constants.W_OK | constants.X_OK);
    return null;
  } catch {
    return `no permission to write in ${above}`;
  }
}

function freeMb(path: string): number | null {
  for (let at = path; ; at = dirname(at)) {
    try {
      const { bavail, bsize } = statfsSync(at);
      return (bavail * bsize) / 1024 / 1024;
    } catch {
      if (dirname(at) === at) return null;
    }
  }
}

function config({ loaded, config: effective, context }: Patient): Row[] {
  if (!loaded.ok)
    return [
      fail(
        'config',
        renderDiagnostics(loaded.diagnostics).join('\n'),
        'fix what is listed; `cmo config schema` prints every key',
      ),
    ];
  const rows: Row[] = loaded.warnings.map((warning) =>
    warn('config', problemText(warning), 'correct the name, or remove it'),
  );
  rows.push(
    ...laneProblems(effective).map((problem) =>
      fail('config', problem, 'change it in the config file; nothing runs until then'),
    ),
  );
  const holdsSecrets =
    effective.redisUrl !== null ||
    effective.fleet.token !== null ||
    effective.lanes.some((lane) => Object.keys(lane.env).length > 0);
  if (
    loaded.file !== null &&
    holdsSecrets &&
    process.platform !== 'win32' &&
    (statSync(loaded.file).mode & 0o077) !== 0
  ) {
    rows.push(warn('config', `${loaded.file} may hold secrets, and others can read it`, `chmod 600 '${loaded.file}'`));
  }
  return rows.length > 0 ? rows : [ok('config', loaded.file ?? `no file; ${context.paths.configFile} would be read`)];
}

async function redis({ context, config: effective }: Patient): Promise<Row> {
  if (effective.redisUrl !== null) return ownRedis(effective.redisUrl);
  const found = ['redis-server', 'valkey-server'].flatMap((name) => onPath(name, context.env['PATH']).slice(0, 1));
  const [program] = found;
  if (program === undefined)
    return fail(
      'redis',
      'neither redis-server nor valkey-server is on PATH',
      'apt-get install redis-server, or brew install redis, or set CMO_REDIS_URL',
    );
  const told = await askProgram(program, ['--version'], childEnvironmentFor(context, null), VERSION_MS);
  const version = told.kind === 'told' ? /v=(\d+\.\d+\.\d+)/.exec(told.out)?.[1] : undefined;
  if (version === undefined)
    return warn('redis', `${program} does not print its version`, `try \`${program} --version\``);
  return Number.parseInt(version, 10) >= 6
    ? ok('redis', `${program} ${version}`)
    : fail('redis', `${program} ${version} is too old; 6.2 or newer is needed`, 'install a newer redis-server');
}

async function daemon({ context }: Patient): Promise<Row[]> {
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
    const seen = `up for ${durationText(context.now() - Date.parse(status.startedAt))}, pid ${status.pid}, ${status.running} running, Redis${status.redis.version === null ? '' : ` ${status.redis.version}`} at ${status.redis.address}`;
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

/** What persons have said holds work back as surely as a fault does. Those of an older daemon tell of none. */
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
