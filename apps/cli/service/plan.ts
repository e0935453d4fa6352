import { CmoError, errorBody, type ServiceKind } from '#contract';
import type { ServiceBox } from './box.js';
import { CRON, withLine, withoutLine } from './cron.js';
import { readTable, type Table } from './crontab.js';
import { MARK, shellLine, type Definition } from './definition.js';
import { findAll, platformsOf, type Found } from './look.js';
import type { Platform, Step } from './platform.js';

/** What is to be done, as data: a dry run shows it, `perform` does it. */
export type Action =
  | { do: 'write'; path: string; text: string; mode: number }
  | { do: 'remove'; path: string }
  | { do: 'run'; step: Step }
  /** The whole table of cron. */
  | { do: 'table'; text: string }
  /** The daemon that a service runs leaves in order, and so nothing starts it again; agents go on. */
  | { do: 'leave' }
  | { do: 'start'; argv: readonly string[] };

/** The way of this box to do it, and why not the better one. */
export type Chosen = { platform: Platform; notes: string[] };

export function choose(box: ServiceBox, by: ServiceKind | undefined, definition: Definition): Chosen {
  const reasons: string[] = [];
  for (const platform of platformsOf(box)) {
    if (by !== undefined && platform.kind !== by) continue;
    const why = whyNot(platform.kind, box);
    if (why === null)
      return { platform, notes: [...reasons.map((reason) => `not by ${reason}`), ...NOTES[platform.kind]] };
    reasons.push(`${platform.kind}: ${why}`);
  }
  if (reasons.length === 0) reasons.push(`${by}: not on ${box.platform}`);
  throw new CmoError(
    errorBody('CMO_E_SERVICE', 'nothing on this box can run it from the start on', {
      details: reasons,
      fix: `have whatever starts this box run: ${shellLine(definition.command)}`,
    }),
  );
}

const NOTES: Record<ServiceKind, string[]> = {
  systemd: [],
  launchd: ['launchd starts it with your login, not with the box'],
  cron: ['cron itself has to run on this box'],
};

function whyNot(kind: ServiceKind, box: ServiceBox): string | null {
  const [program, ...args] = {
    systemd: ['systemctl', '--user', 'show', '--property=Version'],
    launchd: ['launchctl', 'version'],
    cron: ['crontab', '-l'],
  }[kind] as [string, ...string[]];
  if (kind === 'cron') {
    const table = readTable(box);
    return table.ok ? null : table.why;
  }
  const { found, exit, why } = box.run([program, ...args]);
  if (!found) return `${program} is not on PATH`;
  return exit === 0 ? null : `your own manager can't be reached (${why})`;
}

/** @param running whether the daemon that is at work was started by a service */
export function installPlan(box: ServiceBox, { platform }: Chosen, definition: Definition, running: boolean): Action[] {
  const path = platform.file(box.place);
  const text = platform.text(definition);
  const before = box.read(path);
  if (before !== null && !before.includes(MARK))
    throw new CmoError(
      errorBody('CMO_E_SERVICE', `${path} is there and is none of ours`, { fix: 'move it away, then try again' }),
    );
  const changed = before !== text;
  const others = findAll(box).filter((found) => found.platform.kind !== platform.kind && found.named !== null);
  const table = platform.kind === 'cron' ? tableOf(readTable(box)) : null;
  const lined = table === null ? null : withLine(table, path);
  return [
    ...others.flatMap((found) => removal(box, found)),
    // Of two services one would stand by for ever.
    ...(others.length > 0 && running ? [{ do: 'leave' as const }] : []),
    ...(changed ? [{ do: 'write' as const, path, text, mode: platform.mode }] : []),
    ...platform.installSteps(box.place, before !== null && changed).map((step) => ({ do: 'run' as const, step })),
    ...(lined !== null && lined !== table ? [{ do: 'table' as const, text: lined }] : []),
    // Its shell reads the script as it goes; the old one is ended, not changed under it.
    ...(platform.kind === 'cron' && running && changed ? [{ do: 'leave' as const }] : []),
    ...(platform.kind === 'cron' && (!running || changed) ? [{ do: 'start' as const, argv: ['/bin/sh', path] }] : []),
  ];
}

/** Only what is ours; empty: nothing is. */
export function uninstallPlan(box: ServiceBox, running: boolean): Action[] {
  const ours = findAll(box).filter(({ named, text }) => named !== null || text.includes(MARK));
  const actions = ours.flatMap((found) => removal(box, found));
  return actions.length > 0 && running ? [...actions, { do: 'leave' }] : actions;
}

function removal(box: ServiceBox, { platform, path }: Found): Action[] {
  const { before, after } = platform.uninstallSteps(box.place);
  const run = (step: Step): Action => ({ do: 'run', step });
  return [
    ...before.map(run),
    ...(platform === CRON ? withoutOurs(box) : []),
    { do: 'remove', path },
    ...after.map(run),
  ];
}

/** A table that can't be read any more has no line of ours that could do harm: the script it names is gone. */
function withoutOurs(box: ServiceBox): Action[] {
  const table = readTable(box);
  if (!table.ok) return [];
  const rest = withoutLine(table.text);
  return rest === table.text ? [] : [{ do: 'table', text: rest }];
}

function tableOf(table: Table): string {
  if (!table.ok) throw new CmoError(errorBody('CMO_E_SERVICE', `cron's table can't be read: ${table.why}`));
  return table.text;
}
