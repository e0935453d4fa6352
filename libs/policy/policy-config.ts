import { DEFAULT_CONFIG, policyConfig, TIERS, type PolicyConfig, type Tier, type TierModel } from '#contract';
import { checkNumber, numberOf, unknownWord, wordOf, wrongValue, type Problem } from './problem.js';

export type PolicyConfigReading = { ok: true; config: PolicyConfig } | { ok: false; problems: Problem[] };

const PERCENT = { min: 0, max: 100, whole: false };
const POINTS = { min: 0, max: 1000, whole: false };

type Members = Map<string, unknown>;

/**
 * The defaults with a config file's `lanes`, `models`, `preference` and `pressure` laid over them, each merged member
 * by member; other keys are not the policy's. A tier of `models` is a model's name, or an object of model and effort
 * (codex says `reasoning`); what it leaves out stays. Pure: it never reads the person's own file.
 */
export function policyConfigOf(input: unknown): PolicyConfigReading {
  const problems: Problem[] = [];
  const file = membersOf('config', input, problems);
  const defaults = policyConfig(DEFAULT_CONFIG);
  const lanes = readLanes(membersOf('lanes', file.get('lanes'), problems), defaults.lanes, problems);

  const models = membersOf('models', file.get('models'), problems);
  const ids = lanes.map(({ id }) => id);
  problems.push(...unknownMembers('models', models, ids));
  const merged = lanes.map((lane) => ({
    ...lane,
    models: readModels(`models.${lane.id}`, models.get(lane.id), lane.models, problems),
  }));

  const preference = membersOf('preference', file.get('preference'), problems);
  const first = preference.get('first') ?? defaults.preference.first;
  if (typeof first !== 'string' || !ids.includes(first)) problems.push(unknownWord('preference.first', first, ids));
  const number = (section: Members, path: string, key: string, fallback: number, rule: typeof PERCENT): number => {
    const value = section.get(key) ?? fallback;
    const problem = checkNumber(`${path}.${key}`, value, rule);
    if (problem !== null) problems.push(problem);
    return numberOf(value);
  };
  const pressure = membersOf('pressure', file.get('pressure'), problems);
  problems.push(
    ...unknownMembers('preference', preference, Object.keys(defaults.preference)),
    ...unknownMembers('pressure', pressure, Object.keys(defaults.pressure)),
  );
  const config: PolicyConfig = {
    lanes: merged.map(({ id, vendor, models: map }) => ({ id, vendor, models: { ...BLANK, ...map } })),
    preference: {
      first: wordOf(first),
      weightPoints: number(preference, 'preference', 'weightPoints', defaults.preference.weightPoints, POINTS),
    },
    pressure: {
      tight: number(pressure, 'pressure', 'tight', defaults.pressure.tight, PERCENT),
      critical: number(pressure, 'pressure', 'critical', defaults.pressure.critical, PERCENT),
      exhausted: number(pressure, 'pressure', 'exhausted', defaults.pressure.exhausted, PERCENT),
    },
  };
  for (const lane of merged) {
    for (const tier of TIERS)
      if (lane.models[tier] === undefined)
        problems.push(
          wrongValue(`models.${lane.id}.${tier}`, undefined, 'a model: a new lane needs one for each tier'),
        );
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, config };
}

function unknownMembers(path: string, members: Members, known: readonly string[]): Problem[] {
  return [...members.keys()].filter((name) => !known.includes(name)).map((name) => unknownWord(path, name, known));
}

type PartialModels = Partial<Record<Tier, TierModel>>;
type DraftLane = { id: string; vendor: string; models: PartialModels };

// Only filled in for a lane that is refused anyway.
const BLANK: Record<Tier, TierModel> = { fast: { model: '' }, balanced: { model: '' }, frontier: { model: '' } };

function readLanes(given: Members, defaults: PolicyConfig['lanes'], problems: Problem[]): DraftLane[] {
  const lanes: DraftLane[] = defaults.map((lane) => ({ ...lane }));
  for (const [id, value] of given) {
    const members = membersOf(`lanes.${id}`, value, problems);
    const known = lanes.find((one) => one.id === id);
    const lane: DraftLane = known ?? { id, vendor: '', models: {} };
    if (known === undefined) lanes.push(lane);
    const vendor = members.get('vendor') ?? lane.vendor;
    if (typeof vendor === 'string' && vendor !== '') lane.vendor = vendor;
    else
      problems.push(
        wrongValue(`lanes.${id}.vendor`, members.get('vendor'), 'who makes its models, such as openai or anthropic'),
      );
    lane.models = readModels(`lanes.${id}.models`, members.get('models'), lane.models, problems);
  }
  return lanes;
}

function readModels(path: string, value: unknown, base: PartialModels, problems: Problem[]): PartialModels {
  const result: PartialModels = { ...base };
  for (const [key, entry] of membersOf(path, value, problems)) {
    const tier = TIERS.find((one) => one === key);
    if (tier === undefined) problems.push(unknownWord(path, key, TIERS));
    else result[tier] = readEntry(`${path}.${tier}`, entry, base[tier], problems);
  }
  return result;
}

function readEntry(path: string, value: unknown, base: TierModel | undefined, problems: Problem[]): TierModel {
  const members =
    typeof value === 'string' ? new Map<string, unknown>([['model', value]]) : membersOf(path, value, problems);
  const model = members.get('model') ?? base?.model;
  if (typeof model !== 'string' || model === '') problems.push(wrongValue(`${path}.model`, model, "a model's name"));
  const effort = members.get('effort') ?? members.get('reasoning') ?? base?.effort;
  if (effort !== undefined && typeof effort !== 'string')
    problems.push(wrongValue(`${path}.effort`, effort, 'a word of that CLI, such as low, medium or high'));
  return { model: wordOf(model), ...(effort === undefined ? {} : { effort: wordOf(effort) }) };
}

/** Own members only, so that `__proto__` is a name like any other. Absent and null are empty. */
function membersOf(path: string, value: unknown, problems: Problem[]): Members {
  if (value === undefined || value === null) return new Map();
  if (typeof value === 'object' && !Array.isArray(value)) return new Map(Object.entries(value));
  problems.push(wrongValue(path, value, 'an object'));
  return new Map();
}
