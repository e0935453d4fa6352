import { DEFAULT_CONFIG, TIERS, nearest, type LaneConfig, type Tier, type TierModel, type WindowKind } from '#contract';
import { LANE_KINDS, type ConfigFile, type LaneEntry, type TierEntry } from './file-shape.js';
import { byDefault, type Given, type Merge } from './merge.js';
import { problem, type Path, type Problem } from './shape.js';
import type { EnvironmentSource, FileSource } from './sources.js';
import { modelId } from './values.js';

type Sources = { merge: Merge; file: FileSource; env: EnvironmentSource };

/** The built-in lanes first, then those of the file in its order: that order breaks the policy's last tie. */
export function resolveLanes({ merge, file, env }: Sources): LaneConfig[] {
  const entries = file.content.lanes ?? new Map<string, LaneEntry>();
  const lanes: LaneConfig[] = [];
  for (const id of new Set([...DEFAULT_CONFIG.lanes.map((lane) => lane.id), ...entries.keys()])) {
    const entry = entries.get(id) ?? {};
    const template = templateOf(id, entry);
    if (template) lanes.push(resolveLane({ merge, file, env }, id, entry, template));
    else file.problems.push(problem(['lanes', id], 'a lane without a kind', `kind: one of ${LANE_KINDS.join(', ')}`));
  }
  const ids = lanes.map((lane) => lane.id);
  for (const key of ['models', 'freshness', 'reservation'] as const) {
    const allowed = key === 'reservation' ? ['default', ...ids] : ids;
    for (const id of file.content[key]?.keys() ?? []) {
      if (!allowed.includes(id))
        file.problems.push(
          problem([key, id], 'no such lane', `a lane: one of ${allowed.join(', ')}`, nearest(id, allowed)),
        );
    }
  }
  file.problems.push(...accountProblems(lanes, entries));
  return lanes;
}

function templateOf(id: string, entry: LaneEntry): LaneConfig | undefined {
  const own = DEFAULT_CONFIG.lanes.find((lane) => lane.id === id);
  if (own && (entry.kind === undefined || entry.kind === own.kind)) return own;
  const kind = DEFAULT_CONFIG.lanes.find((lane) => lane.kind === entry.kind);
  return kind && { ...kind, account: id };
}

function resolveLane(sources: Sources, id: string, entry: LaneEntry, base: LaneConfig): LaneConfig {
  const { merge, file } = sources;
  const at = `lanes.${id}`;
  const own = <K extends keyof LaneEntry, T>(key: K, fallback: T, value: T | undefined, ...older: Given<T>[]): T =>
    merge.pick(`${at}.${key}`, byDefault(fallback), ...older, file.given(['lanes', id, key], value));

  return {
    id,
    vendor: own('vendor', base.vendor, entry.vendor),
    kind: own('kind', base.kind, entry.kind),
    account: own('account', base.account, entry.account),
    command: own('command', base.command, entry.command),
    models: resolveModels(sources, id, entry, base),
    slots: own('slots', base.slots, entry.slots),
    env: own('env', base.env, entry.env && Object.fromEntries(entry.env)),
    passEnv: own('passEnv', base.passEnv, entry.passEnv),
    allowEndpoint: own('allowEndpoint', base.allowEndpoint, entry.allowEndpoint),
    usageUrl: own('usageUrl', base.usageUrl, entry.usageUrl),
    freshnessMs: own(
      'freshness',
      base.freshnessMs,
      entry.freshness,
      once(file, ['freshness', id], file.content.freshness?.get(id), ['lanes', id, 'freshness'], entry.freshness),
    ),
    silenceMs: own('silence', base.silenceMs, entry.silence),
    cost: resolveCost(sources, id, entry, base),
  };
}

/** A tier's entry is laid over the one below it member by member, so that naming a model keeps the tier's effort. */
function resolveModels(
  { merge, file, env }: Sources,
  id: string,
  entry: LaneEntry,
  base: LaneConfig,
): Record<Tier, TierModel> {
  const tier = (which: Tier): TierModel => {
    const newer: Path = ['lanes', id, 'models', which];
    const fromLane = entry.models?.[which];
    const older = once(file, ['models', id, which], file.content.models?.get(id)?.[which], newer, fromLane);
    const layers: [Path, TierEntry | undefined][] = [
      [['models', id, which], older.value],
      [newer, fromLane],
    ];
    for (const [path, layer] of layers) file.problems.push(...twoEfforts(path, layer));
    const fromEnvironment = env.given(`CMO_${id.toUpperCase().replaceAll('-', '_')}_${which.toUpperCase()}`, modelId);
    const model = merge.pick(
      `lanes.${id}.models.${which}.model`,
      byDefault(base.models[which].model),
      ...layers.map(([path, layer]) => file.given(path, modelOf(layer))),
      fromEnvironment,
    );
    const effort = merge.pick<string | null>(
      `lanes.${id}.models.${which}.effort`,
      byDefault(base.models[which].effort ?? null),
      ...layers.map(([path, layer]) => file.given(path, effortOf(layer))),
    );
    return effort === null ? { model } : { model, effort };
  };
  return { frontier: tier(TIERS[2]), balanced: tier(TIERS[1]), fast: tier(TIERS[0]) };
}

function modelOf(entry: TierEntry | undefined): string | undefined {
  return typeof entry === 'object' ? entry.model : entry;
}

/** Null is a value of its own here (no effort is named to the CLI), so only an absent `effort` falls to `reasoning`. */
function effortOf(entry: TierEntry | undefined): string | null | undefined {
  if (typeof entry !== 'object') return undefined;
  return entry.effort === undefined ? entry.reasoning : entry.effort;
}

function twoEfforts(path: Path, entry: TierEntry | undefined): Problem[] {
  if (typeof entry !== 'object') return [];
  const { effort, reasoning } = entry;
  if (effort === undefined || reasoning === undefined || effort === reasoning) return [];
  const what = `${String(reasoning)}, beside effort ${String(effort)}`;
  return [problem([...path, 'reasoning'], what, 'one of effort and reasoning: they are the same thing')];
}

/**
 * `reservation` names the points of the shortest window; the longer ones take a fifth of it (their share of the same
 * work).
 */
function resolveCost(
  { merge, file }: Sources,
  id: string,
  entry: LaneEntry,
  base: LaneConfig,
): Record<WindowKind, number> {
  const own = file.content.reservation?.get(id);
  const key = own === undefined ? 'default' : id;
  const points = once(
    file,
    ['reservation', key],
    own ?? file.content.reservation?.get('default'),
    ['lanes', id, 'cost', 'five_hour'],
    own === undefined ? undefined : entry.cost?.five_hour,
  );
  const cost = (kind: WindowKind): number => {
    const share = base.cost[kind] / base.cost.five_hour;
    const scaled = {
      value: points.value === undefined ? undefined : Number((points.value * share).toFixed(6)),
      origin: points.origin,
    };
    return merge.pick(
      `lanes.${id}.cost.${kind}`,
      byDefault(base.cost[kind]),
      scaled,
      file.given(['lanes', id, 'cost', kind], entry.cost?.[kind]),
    );
  };
  return { five_hour: cost('five_hour'), weekly: cost('weekly'), monthly: cost('monthly'), other: cost('other') };
}

/** The older place of a value that `lanes` may hold too: said in both, neither is the one that was meant. */
function once<T>(file: FileSource, path: Path, value: T | undefined, newer: Path, newerValue: unknown): Given<T> {
  if (value !== undefined && newerValue !== undefined) {
    const older = path.join('.');
    file.problems.push(problem(newer, `a value that ${older} gives too`, `one place: here or ${older}`));
  }
  return file.given(path, value);
}

/** One account's windows can't be another vendor's too: independence between vendors would mean nothing. */
function accountProblems(lanes: LaneConfig[], entries: NonNullable<ConfigFile['lanes']>): Problem[] {
  const problems: Problem[] = [];
  for (const lane of lanes) {
    const other = lanes.find((candidate) => candidate.account === lane.account && candidate.vendor !== lane.vendor);
    if (other && entries.has(lane.id)) {
      const what = `${lane.account}, which lane ${other.id} draws on for ${other.vendor}`;
      problems.push(problem(['lanes', lane.id, 'account'], what, `an account of ${lane.vendor}`));
    }
  }
  return problems;
}
