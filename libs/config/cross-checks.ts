import { nearest, type Config } from '#contract';
import type { Environment } from './environment.js';
import type { ConfigFile } from './file-shape.js';
import { problem, wrongValue, type Path, type Problem } from './shape.js';

/** What no single key can show: values that contradict each other, or name something that is not there. */
export function crossChecks(
  config: Config,
  content: ConfigFile,
  preferredByEnvironment: boolean,
): { fileProblems: Problem[]; environmentProblems: Problem[] } {
  const preference = preferenceProblems(config, preferredByEnvironment);
  return {
    fileProblems: [
      ...(preferredByEnvironment ? [] : preference),
      ...thresholdProblems(config.pressure),
      ...accountProblems(config, content),
      ...hoursProblems(content),
      ...notifyProblems(content),
    ],
    environmentProblems: preferredByEnvironment ? preference : [],
  };
}

function preferenceProblems({ preference: { first }, lanes }: Config, byEnvironment: boolean): Problem[] {
  const ids = lanes.map((lane) => lane.id);
  if (ids.includes(first)) return [];
  const path = byEnvironment ? ['CMO_PREFER'] : ['preference', 'first'];
  return [wrongValue(path, first, `a lane: one of ${ids.join(', ')}`, nearest(first, ids))];
}

function thresholdProblems(pressure: Config['pressure']): Problem[] {
  const order = ['tight', 'critical', 'exhausted'] as const;
  return order.slice(1).flatMap((upper, i) => {
    const lower = order[i] ?? 'tight';
    if (pressure[lower] <= pressure[upper]) return [];
    const what = `${pressure[upper]}, below pressure.${lower} (${pressure[lower]})`;
    return [problem(['pressure', upper], what, `at least pressure.${lower}: tight ≤ critical ≤ exhausted`)];
  });
}

/** Limits of a misspelt account would silently apply to no lane. */
function accountProblems({ lanes }: Config, content: ConfigFile): Problem[] {
  const known = [...new Set(lanes.map(({ account }) => account))];
  const named: { path: Path; account: string }[] = [
    ...[...(content.accounts?.keys() ?? [])].map((account) => ({ path: ['accounts', account], account })),
    ...(content.holdBack?.hours ?? []).flatMap(({ account }, i) =>
      account === undefined ? [] : [{ path: ['holdBack', 'hours', i, 'account'], account }],
    ),
  ];
  return named
    .filter(({ account }) => !known.includes(account))
    .map(({ path, account }) =>
      problem(
        path,
        `${JSON.stringify(account)}, which no lane draws on`,
        `an account that a lane draws on: one of ${known.join(', ')}`,
        nearest(account, known),
      ),
    );
}

function hoursProblems({ holdBack }: ConfigFile): Problem[] {
  return (holdBack?.hours ?? []).flatMap(({ points, slots }, i) =>
    points === undefined && slots === undefined
      ? [problem(['holdBack', 'hours', i], 'hours that keep nothing', 'points or slots: what is kept in these hours')]
      : [],
  );
}

function notifyProblems({ notify }: ConfigFile): Problem[] {
  return (notify ?? []).flatMap(({ webhook, ntfy, command }, i) => {
    const ways = [webhook, ntfy, command].filter((way) => way !== undefined).length;
    if (ways === 1) return [];
    const what = ways === 0 ? 'a target without a way to it' : 'several ways at once';
    return [problem(['notify', i], what, 'one of webhook, ntfy and command')];
  });
}

/** A relative folder would be a different one in every folder that cmo is called from: two daemons, two queues. */
export function relativeFolders(variables: Environment): Problem[] {
  return ['CMO_STATE_DIR', 'CMO_CONFIG_DIR', 'CMO_CACHE_DIR'].flatMap((variable) => {
    const value = variables[variable];
    return value && !/^(\/|[A-Za-z]:[\\/])/.test(value) ? [wrongValue([variable], value, 'an absolute path')] : [];
  });
}

/**
 * Keys that this version reads but does not act on yet. Each is a warning, so that people don't rely on it; a key leaves
 * this list with the commit that implements it.
 */
export function idleKeys({ notify, roots, fleet }: Config): Problem[] {
  const idle = (path: Path, what: string, why: string): Problem => problem(path, what, `no such key: ${why}`);
  const problems: Problem[] = [];
  if (notify.length > 0) problems.push(idle(['notify'], 'targets for messages', 'this version sends no messages'));
  if (roots.length > 0) problems.push(idle(['roots'], 'folders for remote work', 'this version takes no remote work'));
  if (fleet.url !== null) {
    const why = 'this version uses none, so every box sees only itself; boxes share one Redis through CMO_REDIS_URL';
    problems.push(idle(['fleet', 'url'], 'a coordinator', why));
  }
  return problems;
}
