import { join, resolve as resolvePath } from 'node:path';
import { DEFAULT_CONFIG, nearest, type Config, type Timing } from '#contract';
import type { Environment } from './environment.js';
import { byDefault, Merge, type Given } from './merge.js';
import type { Origin, Origins } from './origin.js';
import { resolveLanes } from './resolve-lanes.js';
import { problem, type Problem } from './shape.js';
import { EnvironmentSource, type FileSource } from './sources.js';
import { absolutePath, isNodeId, laneId, nodeId, redisUrl, token, webUrl } from './values.js';

/** What the machine itself says. */
export type Machine = { home: string; hostname: string; cores: number };

export type Resolved = { config: Config; origins: Origins; fileProblems: Problem[]; environmentProblems: Problem[]; warnings: Problem[] };

/** Defaults < box < file < environment, pure. A config comes out whatever is wrong; it may be used only when no problem does. */
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
      first: merge.pick('preference.first', byDefault(DEFAULT_CONFIG.preference.first), file.given(['preference', 'first'], content.preference?.first), env.given('CMO_PREFER', laneId)),
      weightPoints: member('preference', 'weightPoints', DEFAULT_CONFIG.preference.weightPoints, content.preference?.weightPoints),
    },
    pressure: {
      tight: member('pressure', 'tight', DEFAULT_CONFIG.pressure.tight, content.pressure?.tight),
      critical: member('pressure', 'critical', DEFAULT_CONFIG.pressure.critical, content.pressure?.critical),
      exhausted: member('pressure', 'exhausted', DEFAULT_CONFIG.pressure.exhausted, content.pressure?.exhausted),
    },
    slots: {
      account: member('slots', 'account', DEFAULT_CONFIG.slots.account, content.slots?.account),
      node: merge.pick('slots.node', { value: Math.max(2, 2 * machine.cores), origin: { from: 'box', what: `${machine.cores} cores` } }, file.given(['slots', 'node'], content.slots?.node)),
      dark: member('slots', 'dark', DEFAULT_CONFIG.slots.dark, content.slots?.dark),
    },
    holdBack: {
      slots: member('holdBack', 'slots', DEFAULT_CONFIG.holdBack.slots, content.holdBack?.slots),
      points: member('holdBack', 'points', DEFAULT_CONFIG.holdBack.points, content.holdBack?.points),
    },
    allowFullAccess: merge.pick('allowFullAccess', byDefault(false), file.given(['allowFullAccess'], content.allowFullAccess)),
    readCommands: merge.pick('readCommands', byDefault(DEFAULT_CONFIG.readCommands), file.given(['readCommands'], content.readCommands)),
    codexSessionsRoot: place('codexSessionsRoot', 'CMO_CODEX_SESSIONS', ['CODEX_HOME', join(machine.home, '.codex')], 'sessions'),
    claudeCredentials: place('claudeCredentials', 'CMO_CLAUDE_CREDENTIALS', ['CLAUDE_CONFIG_DIR', join(machine.home, '.claude')], '.credentials.json'),
    nodeId: merge.pick('fleet.nodeId', hostNode(machine.hostname), file.given(['fleet', 'nodeId'], content.fleet?.nodeId), env.given('CMO_NODE_ID', nodeId)),
    redisUrl: merge.pick<string | null>('redisUrl', byDefault(null), file.given(['redisUrl'], content.redisUrl), env.given('CMO_REDIS_URL', redisUrl)),
    fleet: {
      url: merge.pick<string | null>('fleet.url', byDefault(null), file.given(['fleet', 'url'], content.fleet?.url), env.given('CMO_FLEET_URL', webUrl)),
      token: merge.pick<string | null>('fleet.token', byDefault(null), file.given(['fleet', 'token'], content.fleet?.token), env.given('CMO_FLEET_TOKEN', token)),
    },
    timing: resolveTiming(merge, file),
  };

  const fileProblems = [...file.problems];
  const environmentProblems = [...env.problems, ...relativeFolders(variables)];
  const byOrigin = (path: string): Problem[] => (merge.origins.get(path)?.from === 'environment' ? environmentProblems : fileProblems);
  const first = config.preference.first;
  const ids = lanes.map((lane) => lane.id);
  if (!ids.includes(first)) {
    const variable = merge.origins.get('preference.first')?.from === 'environment';
    byOrigin('preference.first').push(problem(variable ? ['CMO_PREFER'] : ['preference', 'first'], first, `a lane: one of ${ids.join(', ')}`, nearest(first, ids)));
  }
  fileProblems.push(...thresholdProblems(config.pressure));
  return { config, origins: merge.origins, fileProblems, environmentProblems, warnings: env.unread() };

  /** Where a CLI keeps something: ours to say, else where that CLI's own variable puts it. */
  function place(key: 'codexSessionsRoot' | 'claudeCredentials', variable: string, [theirs, usual]: [string, string], inside: string): string {
    const moved = variables[theirs];
    const base: Given<string> & { value: string } = moved ? { value: resolvePath(moved, inside), origin: { from: 'environment', variable: theirs } } : byDefault(join(usual, inside));
    const chosen = merge.pick(key, base, file.given([key], content[key]), env.given(variable, absolutePath));
    return chosen.startsWith('~/') ? join(machine.home, chosen.slice(2)) : chosen;
  }
}

/** The box's name, cut to what a queue and a file name can hold. */
function hostNode(hostname: string): { value: string; origin: Origin } {
  const cut = hostname.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '').slice(0, 63);
  return isNodeId(cut) ? { value: cut, origin: { from: 'box', what: 'host name' } } : byDefault(DEFAULT_CONFIG.nodeId);
}

function resolveTiming(merge: Merge, file: FileSource): Timing {
  const given = file.content.timing;
  const timing = { ...DEFAULT_CONFIG.timing };
  const take = <K extends keyof Timing>(key: K): void => {
    timing[key] = merge.pick<Timing[K]>(`timing.${key}`, byDefault(DEFAULT_CONFIG.timing[key]), file.given(['timing', key], given?.[key] as Timing[K] | undefined));
  };
  for (const key of Object.keys(timing) as (keyof Timing)[]) take(key);
  return timing;
}

function thresholdProblems(pressure: Config['pressure']): Problem[] {
  const order = ['tight', 'critical', 'exhausted'] as const;
  return order.slice(1).flatMap((upper, i) => {
    const lower = order[i] ?? 'tight';
    if (pressure[lower] <= pressure[upper]) return [];
    return [{ ...problem(['pressure', upper], pressure[upper], `at least pressure.${lower}: tight ≤ critical ≤ exhausted`), seen: `${pressure[upper]}, below pressure.${lower} (${pressure[lower]})` }];
  });
}

/** A relative folder would be another one in every folder that cmo is called from: two daemons, two queues. */
function relativeFolders(variables: Environment): Problem[] {
  return ['CMO_STATE_DIR', 'CMO_CONFIG_DIR', 'CMO_CACHE_DIR'].flatMap((variable) => {
    const value = variables[variable];
    return value && !/^(\/|[A-Za-z]:[\\/])/.test(value) ? [problem([variable], value, 'an absolute path')] : [];
  });
}
