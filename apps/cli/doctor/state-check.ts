import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { folderProblem } from '#config';
import { fail, ok, warn, type Patient, type Row } from './row.js';

/** Warn this far above the floor under which no more tasks are taken, MB. */
const LOW_DISK_MB = 300;
const MISSING = 'it does not exist';
const MAKE_IT_OURS = 'make it a folder of yours with mode 0700, or set CMO_STATE_DIR';

type Paths = Patient['context']['paths'];

/** The state folder: ours alone, with sockets that fit, without spoilt run folders, and with room on its disk. */
export function checkState({ context: { paths }, config: { disk } }: Patient): Row[] {
  return [stateFolder(paths), ...socketsFolder(paths), ...brokenRuns(paths), ...diskRoom(paths, disk.floorMb)];
}

function stateFolder({ state }: Paths): Row {
  const problem = folderProblem(state);
  if (problem === null) return ok('state', state);
  if (problem === MISSING) {
    const shut = shutAbove(state);
    return shut === null
      ? ok('state', `${state} will be created by the first run`)
      : fail('state', `cannot create ${state}: ${shut}`, MAKE_IT_OURS);
  }
  const fix = problem.startsWith('others may enter') ? `chmod 700 '${state}'` : MAKE_IT_OURS;
  return fail('state', `${state}: ${problem}`, fix);
}

/** Only when the sockets are elsewhere: a socket's path is limited to about a hundred bytes. */
function socketsFolder({ state, sockets }: Paths): Row[] {
  if (sockets === join(state, 'sockets')) return [];
  const problem = folderProblem(sockets);
  const seen = `the state folder's path is too long for sockets, so they are in ${sockets}`;
  if (problem === null || problem === MISSING) return [ok('state:sockets', seen)];
  return [fail('state:sockets', `${seen}: ${problem}`, 'remove that folder, or set CMO_STATE_DIR to a shorter path')];
}

function brokenRuns({ runs }: Paths): Row[] {
  const broken = join(runs, 'broken');
  const aside = existsSync(broken) ? readdirSync(broken).length : 0;
  if (aside === 0) return [];
  return [
    warn(
      'state:broken',
      `unreadable run folders, set aside in ${broken}: ${aside}`,
      'look at them, then remove them; otherwise `cmo gc` removes them when they are past retention.runs',
    ),
  ];
}

function diskRoom({ state }: Paths, floorMb: number): Row[] {
  const free = freeMb(state);
  if (free === null || free >= floorMb + LOW_DISK_MB) return [];
  const left = `${Math.round(free)} MB are free for ${state}`;
  const floor = `under ${floorMb} MB (disk.floorMb) no more tasks are taken`;
  return free < floorMb
    ? [fail('state:disk', `${left}; ${floor}`, 'make room; `cmo gc --dry-run` says what cmo could remove')]
    : [warn('state:disk', left, `make room: ${floor}`)];
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
