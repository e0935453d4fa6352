import { join, resolve as resolvePath } from 'node:path';
import {
  DEFAULT_CONFIG,
  nearest,
  NOTICES,
  type Config,
  type HoldBackHours,
  type Keep,
  type NotifyTarget,
  type Timing,
} from '#contract';
import type { Environment } from './environment.js';
import { byDefault, Merge, type Given } from './merge.js';
import type { Origin, Origins } from './origin.js';
import { resolveLanes } from './resolve-lanes.js';
import type { HoursEntry, TargetEntry } from './file-shape.js';
import { problem, type Path, type Problem } from './shape.js';
import { EnvironmentSource, type FileSource } from './sources.js';
import { absolutePath, isNodeId, laneId, nodeId, redisUrl, token, webUrl } from './values.js';

/** What the machine itself says. */
export type Machine = { home: string; hostname: string; cores: number };

export type Resolved = {
  config: Config;
  origins: Origins;
  fileProblems: Problem[];
  environmentProblems: Problem[];
  warnings: Problem[];
};

/**
 * Defaults < box < file < environment, pure. A config comes out
 * whatever is wrong; it may be used only when no problem does.
 */
export function resolve(file: FileSource, variables: Environment, machine: Machine): Resolved {
  const merge = new Merge();
  const env = new EnvironmentSource(variables);
  const { content } = file;
  const lanes = resolveLanes({ merge, file, env });

  /** A member of a group of the file, with no variable of its own. */
  const member = <T>(group: string, key: string, fallback: T, value: T | undefined): T =>
    merge.pick(`${group}.${key}`, byDefault(fallback), file.given([group, key], value));

  const config: Config = {
    lanes,
    preference: {
      first: merge.pick(
        'preference.first',
        byDefault(DEFAULT_CONFIG.preference.first),
        file.given(['preference', 'first'], content.preference?.first),
        env.given('CMO_PREFER', laneId),
      ),
      weightPoints: member(
        'preference',
        'weightPoints',
        DEFAULT_CONFIG.preference.weightPoints,
        content.preference?.weightPoints,
      ),
    },
    pressure: {
      tight: member('pressure', 'tight', DEFAULT_CONFIG.pressure.tight, content.pressure?.tight),
      critical: member('pressure', 'critical', DEFAULT_CONFIG.pressure.critical, content.pressure?.critical),
      exhausted: member('pressure', 'exhausted', DEFAULT_CONFIG.pressure.exhausted, content.pressure?.exhausted),
    },
    slots: {
      account: member('slots', 'account', DEFAULT_CONFIG.slots.account, content.slots?.account),
      node: merge.pick(
        'slots.node',
        { value: Math.max(2, 2 * machine.cores), origin: { from: 'box', what: `${machine.cores} cores` } },
        file.given(['slots', 'node'], content.slots?.node),
      ),
      dark: member('slots', 'dark', DEFAULT_CONFIG.slots.dark, content.slots?.dark),
    },
    holdBack: {
      slots: member('holdBack', 'slots', DEFAULT_CONFIG.holdBack.slots, content.holdBack?.slots),
      points: member('holdBack', 'points', DEFAULT_CONFIG.holdBack.points, content.holdBack?.points),
    },
    accounts: resolveAccounts(merge, file),
    holdBackHours: merge.pick(
      'holdBack.hours',
      byDefault(DEFAULT_CONFIG.holdBackHours),
      file.given(['holdBack', 'hours'], content.holdBack?.hours?.map(hoursOf)),
    ),
    roots: merge.pick('roots', byDefault(DEFAULT_CONFIG.roots), file.given(['roots'], content.roots?.map(fromHome))),
    notify: merge.pick(
      'notify',
      byDefault(DEFAULT_CONFIG.notify),
      file.given(['notify'], content.notify?.map(targetOf)),
    ),
    disk: { floorMb: member('disk', 'floorMb', DEFAULT_CONFIG.disk.floorMb, content.disk?.floorMb) },
    retention: resolveRetention(merge, file),
    bounds: { depth: member('bounds', 'depth', DEFAULT_CONFIG.bounds.depth, content.bounds?.depth) },
    allowFullAccess: merge.pick(
      'allowFullAccess',
      byDefault(false),
      file.given(['allowFullAccess'], content.allowFullAccess),
    ),
    readCommands: merge.pick(
      'readCommands',
      byDefault(DEFAULT_CONFIG.readCommands),
      file.given(['readCommands'], content.readCommands),
    ),
    codexSessionsRoot: place(
      'codexSessionsRoot',
      'CMO_CODEX_SESSIONS',
      ['CODEX_HOME', join(machine.home, '.codex')],
      'sessions',
    ),
    claudeCredentials: place(
      'claudeCredentials',
      'CMO_CLAUDE_CREDENTIALS',
      ['CLAUDE_CONFIG_DIR', join(machine.home, '.claude')],
      '.credentials.json',
    ),
    nodeId: merge.pick(
      'fleet.nodeId',
      hostNode(machine.hostname),
      file.given(['fleet', 'nodeId'], content.fleet?.nodeId),
      env.given('CMO_NODE_ID', nodeId),
    ),
    redisUrl: merge.pick<string | null>(
      'redisUrl',
      byDefault(null),
      file.given(['redisUrl'], content.redisUrl),
      env.given('CMO_REDIS_URL', redisUrl),
    ),
    fleet: {
      url: merge.pick<string | null>(
        'fleet.url',
        byDefault(null),
        file.given(['fleet', 'url'], content.fleet?.url),
        env.given('CMO_FLEET_URL', webUrl),
      ),
      token: merge.pick<string | null>(
        'fleet.token',
        byDefault(null),
        file.given(['fleet', 'token'], content.fleet?.token),
        env.given('CMO_FLEET_TOKEN', token),
      ),
    },
    timing: resolveTiming(merge, file),
  };

  const fileProblems = [...file.problems];
  const environmentProblems = [...env.problems, ...relativeFolders(variables)];
  const byOrigin = (path: string): Problem[] =>
    merge.origins.get(path)?.from === 'environment' ? environmentProblems : fileProblems;
  const first = config.preference.first;
  const ids = lanes.map((lane) => lane.id);
  if (!ids.includes(first)) {
    const variable = merge.origins.get('preference.first')?.from === 'environment';
    byOrigin('preference.first').push(
      problem(
        variable ? ['CMO_PREFER'] : ['preference', 'first'],
        first,
        `a lane: one of ${ids.join(', ')}`,
        nearest(first, ids),
      ),
    );
  }
  fileProblems.push(...thresholdProblems(config.pressure), ...accountNames(config, file), ...entryProblems(file));
  return {
    config,
    origins: merge.origins,
    fileProblems,
    environmentProblems,
    warnings: [...env.unread(), ...idleKeys(config)],
  };

  /** Where a CLI keeps something: ours to say, else where that CLI's own variable puts it. */
  function place(
    key: 'codexSessionsRoot' | 'claudeCredentials',
    variable: string,
    [theirs, usual]: [string, string],
    inside: string,
  ): string {
    const moved = variables[theirs];
    const base: Given<string> & { value: string } = moved
      ? { value: resolvePath(moved, inside), origin: { from: 'environment', variable: theirs } }
      : byDefault(join(usual, inside));
    const chosen = merge.pick(key, base, file.given([key], content[key]), env.given(variable, absolutePath));
    return fromHome(chosen);
  }

  function fromHome(path: string): string {
    return path.startsWith('~/') ? join(machine.home, path.slice(2)) : path;
  }
}

function hoursOf({ from = 0, until = 24 * 60, days = [], account, points = 0, slots = 0 }: HoursEntry): HoldBackHours {
  return { from, until, days, account: account ?? null, points, slots };
}

function targetOf({ on, webhook, ntfy, command }: TargetEntry): NotifyTarget {
  return { on: on ?? [...NOTICES], webhook: webhook ?? null, ntfy: ntfy ?? null, command: command ?? null };
}

function resolveAccounts(merge: Merge, file: FileSource): Config['accounts'] {
  return [...(file.content.accounts ?? [])].map(([id, { slots }]) => ({
    id,
    slots: merge.pick<number | null>(
      `accounts.${id}.slots`,
      byDefault(null),
      file.given(['accounts', id, 'slots'], slots),
    ),
  }));
}

function resolveRetention(merge: Merge, file: FileSource): Config['retention'] {
  const keep = (what: keyof Config['retention']): Keep => {
    const [own, base] = [file.content.retention?.[what], DEFAULT_CONFIG.retention[what]];
    return {
      days: merge.pick(
        `retention.${what}.days`,
        byDefault(base.days),
        file.given(['retention', what, 'days'], own?.days),
      ),
      most: merge.pick(
        `retention.${what}.most`,
        byDefault(base.most),
        file.given(['retention', what, 'most'], own?.most),
      ),
    };
  };
  return { records: keep('records'), receipts: keep('receipts'), runs: keep('runs'), blobs: keep('blobs') };
}

/** An account that no lane draws on would keep points from nobody. */
function accountNames(config: Config, file: FileSource): Problem[] {
  const known = [...new Set(config.lanes.map(({ account }) => account))];
  const said: [Path, string][] = [
    ...[...(file.content.accounts?.keys() ?? [])].map((id): [Path, string] => [['accounts', id], id]),
    ...(file.content.holdBack?.hours ?? []).flatMap(({ account }, i): [Path, string][] =>
      account === undefined ? [] : [[['holdBack', 'hours', i, 'account'], account]],
    ),
  ];
  return said
    .filter(([, id]) => !known.includes(id))
    .map(([path, id]) => ({
      ...problem(path, null, `an account that a lane draws on: one of ${known.join(', ')}`, nearest(id, known)),
      seen: `${JSON.stringify(id)}, which no lane draws on`,
    }));
}

/** Entries of lists that lack what they are for. */
function entryProblems({ content }: FileSource): Problem[] {
  const hours = (content.holdBack?.hours ?? []).flatMap(({ points, slots }, i) =>
    points === undefined && slots === undefined
      ? [
          {
            ...problem(['holdBack', 'hours', i], null, 'points or slots: what is kept in these hours'),
            seen: 'hours that keep nothing',
          },
        ]
      : [],
  );
  const targets = (content.notify ?? []).flatMap(({ webhook, ntfy, command }, i) => {
    const ways = [webhook, ntfy, command].filter((way) => way !== undefined).length;
    return ways === 1
      ? []
      : [
          {
            ...problem(['notify', i], null, 'one of webhook, ntfy and command'),
            seen: ways === 0 ? 'a target without a way to it' : 'several ways at once',
          },
        ];
  });
  return [...hours, ...targets];
}

/** The box's name, cut to what a queue and a file name can hold. */
function hostNode(hostname: string): { value: string; origin: Origin } {
  const cut = hostname
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 63);
  return isNodeId(cut) ? { value: cut, origin: { from: 'box', what: 'host name' } } : byDefault(DEFAULT_CONFIG.nodeId);
}

function resolveTiming(merge: Merge, file: FileSource): Timing {
  const given = file.content.timing;
  const timing = { ...DEFAULT_CONFIG.timing };
  const take = <K extends keyof Timing>(key: K): void => {
    timing[key] = merge.pick<Timing[K]>(
      `timing.${key}`,
      byDefault(DEFAULT_CONFIG.timing[key]),
      file.given(['timing', key], given?.[key] as Timing[K] | undefined),
    );
  };
  for (const key of Object.keys(timing) as (keyof Timing)[]) take(key);
  return timing;
}

function thresholdProblems(pressure: Config['pressure']): Problem[] {
  const order = ['tight', 'critical', 'exhausted'] as const;
  return order.slice(1).flatMap((upper, i) => {
    const lower = order[i] ?? 'tight';
    if (pressure[lower] <= pressure[upper]) return [];
    return [
      {
        ...problem(['pressure', upper], pressure[upper], `at least pressure.${lower}: tight ≤ critical ≤ exhausted`),
        seen: `${pressure[upper]}, below pressure.${lower} (${pressure[lower]})`,
      },
    ];
  });
}

/**
 * What is understood and not yet acted on: told, so that nobody waits
 * for it. A key leaves this list with the part that reads it.
 */
function idleKeys({ notify, roots, fleet }: Config): Problem[] {
  const idle = (path: Path, seen: string, why: string): Problem => ({
    ...problem(path, null, `it left out: ${why}`),
    seen,
  });
  return [
    ...(notify.length > 0 ? [idle(['notify'], 'who wants messages', 'this version sends none')] : []),
    ...(roots.length > 0
      ? [idle(['roots'], 'folders that remote work must lie in', 'this version takes no remote work')]
      : []),
    ...(fleet.url === null
      ? []
      : [
          idle(
            ['fleet', 'url'],
            'a coordinator',
            'this version speaks to none, so every box sees only itself; boxes share one Redis by CMO_REDIS_URL',
          ),
        ]),
  ];
}

/** A relative folder would be another one in every folder that cmo is called from: two daemons, two queues. */
function relativeFolders(variables: Environment): Problem[] {
  return ['CMO_STATE_DIR', 'CMO_CONFIG_DIR', 'CMO_CACHE_DIR'].flatMap((variable) => {
    const value = variables[variable];
    return value && !/^(\/|[A-Za-z]:[\\/])/.test(value) ? [problem([variable], value, 'an absolute path')] : [];
  });
}
