import { join, resolve as resolvePath } from 'node:path';
import { DEFAULT_CONFIG, type Config } from '#contract';
import { crossChecks, idleKeys, relativeFolders } from './cross-checks.js';
import type { Environment } from './environment.js';
import { byDefault, Merge, type Given } from './merge.js';
import type { Origin, Origins } from './origin.js';
import { holdBackHoursOf, notifyTargetOf, resolveAccounts, resolveRetention, resolveTiming } from './resolve-groups.js';
import { resolveLanes } from './resolve-lanes.js';
import type { Problem } from './shape.js';
import { EnvironmentSource, settingOf, type FileSource } from './sources.js';
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
 * Lays defaults, box, file and environment over each other, in rising order (pure). It always returns a config; that
 * config may be used only when there are no problems.
 */
export function resolve(file: FileSource, variables: Environment, machine: Machine): Resolved {
  const merge = new Merge();
  const env = new EnvironmentSource(variables);
  const setting = settingOf(merge, file);
  const { content } = file;
  const defaults = DEFAULT_CONFIG;
  const config: Config = {
    lanes: resolveLanes({ merge, file, env }),
    preference: {
      first: setting(
        'preference.first',
        defaults.preference.first,
        content.preference?.first,
        env.given('CMO_PREFER', laneId),
      ),
      weightPoints: setting(
        'preference.weightPoints',
        defaults.preference.weightPoints,
        content.preference?.weightPoints,
      ),
    },
    pressure: {
      tight: setting('pressure.tight', defaults.pressure.tight, content.pressure?.tight),
      critical: setting('pressure.critical', defaults.pressure.critical, content.pressure?.critical),
      exhausted: setting('pressure.exhausted', defaults.pressure.exhausted, content.pressure?.exhausted),
    },
    slots: {
      account: setting('slots.account', defaults.slots.account, content.slots?.account),
      node: merge.pick('slots.node', nodeSlots(machine), file.given(['slots', 'node'], content.slots?.node)),
      dark: setting('slots.dark', defaults.slots.dark, content.slots?.dark),
    },
    accounts: resolveAccounts(content, setting),
    holdBack: {
      slots: setting('holdBack.slots', defaults.holdBack.slots, content.holdBack?.slots),
      points: setting('holdBack.points', defaults.holdBack.points, content.holdBack?.points),
    },
    holdBackHours: setting('holdBack.hours', defaults.holdBackHours, content.holdBack?.hours?.map(holdBackHoursOf)),
    allowFullAccess: setting('allowFullAccess', defaults.allowFullAccess, content.allowFullAccess),
    readCommands: setting('readCommands', defaults.readCommands, content.readCommands),
    codexSessionsRoot: cliPlace('codexSessionsRoot', 'CMO_CODEX_SESSIONS', {
      variable: 'CODEX_HOME',
      usual: join(machine.home, '.codex'),
      inside: 'sessions',
    }),
    claudeCredentials: cliPlace('claudeCredentials', 'CMO_CLAUDE_CREDENTIALS', {
      variable: 'CLAUDE_CONFIG_DIR',
      usual: join(machine.home, '.claude'),
      inside: '.credentials.json',
    }),
    nodeId: merge.pick(
      'fleet.nodeId',
      hostNode(machine.hostname),
      file.given(['fleet', 'nodeId'], content.fleet?.nodeId),
      env.given('CMO_NODE_ID', nodeId),
    ),
    redisUrl: setting<string | null>('redisUrl', null, content.redisUrl, env.given('CMO_REDIS_URL', redisUrl)),
    fleet: {
      url: setting<string | null>('fleet.url', null, content.fleet?.url, env.given('CMO_FLEET_URL', webUrl)),
      token: setting<string | null>('fleet.token', null, content.fleet?.token, env.given('CMO_FLEET_TOKEN', token)),
    },
    roots: setting('roots', defaults.roots, content.roots?.map(fromHome)),
    notify: setting('notify', defaults.notify, content.notify?.map(notifyTargetOf)),
    retention: resolveRetention(content, setting),
    disk: { floorMb: setting('disk.floorMb', defaults.disk.floorMb, content.disk?.floorMb) },
    bounds: { depth: setting('bounds.depth', defaults.bounds.depth, content.bounds?.depth) },
    timing: resolveTiming(content, setting),
  };

  const preferredBy = merge.origins.get('preference.first');
  const checked = crossChecks(config, content, preferredBy?.from === 'environment');
  return {
    config,
    origins: merge.origins,
    fileProblems: [...file.problems, ...checked.fileProblems],
    environmentProblems: [...env.problems, ...relativeFolders(variables), ...checked.environmentProblems],
    warnings: [...env.unread(), ...idleKeys(config)],
  };

  /** Where a CLI keeps something: our own setting, else where that CLI's own variable or its default puts it. */
  function cliPlace(
    key: 'codexSessionsRoot' | 'claudeCredentials',
    ours: string,
    theirs: { variable: string; usual: string; inside: string },
  ): string {
    const moved = variables[theirs.variable];
    const base: Given<string> & { value: string } = moved
      ? {
          value: resolvePath(moved, theirs.inside),
          origin: { from: 'environment', variable: theirs.variable },
        }
      : byDefault(join(theirs.usual, theirs.inside));
    return fromHome(merge.pick(key, base, file.given([key], content[key]), env.given(ours, absolutePath)));
  }

  function fromHome(path: string): string {
    return path.startsWith('~/') ? join(machine.home, path.slice(2)) : path;
  }
}

/** Twice the cores: agents wait for their vendor most of the time. Two at least. */
function nodeSlots({ cores }: Machine): { value: number; origin: Origin } {
  return { value: Math.max(2, 2 * cores), origin: { from: 'box', what: `${cores} cores` } };
}

/** The box's name, cut to what a queue and a file name can hold. */
function hostNode(hostname: string): { value: string; origin: Origin } {
  const cut = hostname
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 63);
  return isNodeId(cut) ? { value: cut, origin: { from: 'box', what: 'host name' } } : byDefault(DEFAULT_CONFIG.nodeId);
}
