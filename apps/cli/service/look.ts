import type { ServiceKind, ServiceState } from '#contract';
import type { ServiceBox } from './box.js';
import { CRON, hasLine } from './cron.js';
import { readTable } from './crontab.js';
import type { Named } from './definition.js';
import { LABEL, LAUNCHD } from './launchd.js';
import type { Platform } from './platform.js';
import { SYSTEMD, UNIT } from './systemd.js';

/** The best first. */
export function platformsOf(box: ServiceBox): readonly Platform[] {
  return box.platform === 'darwin' ? [LAUNCHD, CRON] : [SYSTEMD, CRON];
}

/** A file where ours would lie. */
export type Found = {
  platform: Platform;
  path: string;
  text: string;
  /** Null: not ours. */
  named: Named | null;
};

export function findAll(box: ServiceBox): Found[] {
  return platformsOf(box).flatMap((platform) => {
    const path = platform.file(box.place);
    const text = box.read(path);
    return text === null ? [] : [{ platform, path, text, named: platform.read(text) }];
  });
}

/**
 * Asks the box, and changes nothing.
 * @param expected what a service installed now would name
 * @param daemonIsService whether the daemon that is at work was started by a service
 */
export function lookAtService(box: ServiceBox, expected: Named, daemonIsService: boolean): ServiceState {
  const all = findAll(box);
  const found = all.find(({ named }) => named !== null) ?? all[0];
  if (found === undefined)
    return {
      kind: null,
      file: null,
      node: null,
      program: null,
      state: null,
      enabled: null,
      running: null,
      linger: null,
      problems: [{ what: 'no service is installed', fix: '`cmo service install`' }],
    };
  const { platform, path, named } = found;
  const { enabled, running } = ASK[platform.kind](box, daemonIsService);
  const state = {
    kind: platform.kind,
    file: path,
    node: named?.node ?? null,
    program: named?.program ?? null,
    state: named?.state ?? null,
    enabled,
    running,
    linger: platform.kind === 'systemd' ? lingerOf(box) : null,
  };
  return { ...state, problems: problemsOf(state, expected, box.user, (file) => box.exists(file)) };
}

type Answers = Pick<ServiceState, 'enabled' | 'running'>;

const ASK: Record<ServiceKind, (box: ServiceBox, daemonIsService: boolean) => Answers> = {
  systemd(box) {
    const enabled = box.run(['systemctl', '--user', 'is-enabled', UNIT]);
    const active = box.run(['systemctl', '--user', 'is-active', UNIT]);
    const told = ({ out }: { out: string }, yes: RegExp, no: RegExp): boolean | null => {
      if (yes.test(out)) return true;
      return no.test(out) ? false : null;
    };
    return {
      enabled: told(enabled, /^enabled/, /^(disabled|not-found|masked|linked|static)/),
      running: told(active, /^(active|activating|reloading)/, /^(inactive|failed|deactivating)/),
    };
  },
  launchd(box) {
    const { found, exit, out } = box.run(['launchctl', 'print', `gui/${box.place.uid}/${LABEL}`]);
    return found
      ? { enabled: exit === 0, running: exit === 0 && /state = running/.test(out) }
      : { enabled: null, running: null };
  },
  cron(box, daemonIsService) {
    const table = readTable(box);
    return { enabled: table.ok ? hasLine(table.text) : null, running: daemonIsService };
  },
};

/** Null: there is no loginctl to ask. */
function lingerOf(box: ServiceBox): boolean | null {
  const { found, exit, out } = box.run(['loginctl', 'show-user', box.user, '--property=Linger']);
  if (!found) return null;
  if (exit === 0) return out.trim() === 'Linger=yes';
  // It knows only who is logged in or lingers; where it can't be reached, logind's own mark still tells.
  return box.exists(`/var/lib/systemd/linger/${box.user}`);
}

export function problemsOf(
  { kind, file, node, program, state, enabled, linger }: Omit<ServiceState, 'problems'>,
  expected: Named,
  user: string,
  exists: (file: string) => boolean,
): ServiceState['problems'] {
  const anew = '`cmo service install`';
  if (node === null || program === null || state === null)
    return [{ what: `${file} is there and is none of ours`, fix: `move it away, then ${anew}` }];
  const problems: ServiceState['problems'] = [];
  if (!exists(program)) problems.push({ what: `${file} starts ${program}, which is gone`, fix: anew });
  else if (program !== expected.program)
    problems.push({ what: `${file} starts ${program}; this is ${expected.program}`, fix: anew });
  if (!exists(node)) problems.push({ what: `${file} starts ${node}, which is gone`, fix: anew });
  if (state !== expected.state)
    problems.push({
      what: `${file} is for the state folder ${state}; this is ${expected.state}`,
      fix: `${anew} (there is one for each account)`,
    });
  if (enabled === false)
    problems.push({ what: kind === 'cron' ? 'the table of cron has no line for it' : 'it is not enabled', fix: anew });
  if (linger === false)
    problems.push({
      what: `systemd ends all that ${user} runs with the last logout, agents too, and starts the service with the next login only`,
      fix: `\`loginctl enable-linger ${user}\``,
    });
  return problems;
}
