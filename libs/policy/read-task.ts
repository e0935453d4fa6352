import { LENGTHS, NUMBERS, ROLES, type NumberRule, type PolicyConfig, type Task } from '#contract';
import { producerVendor } from './independence.js';
import { checkNumber, contradiction, numberOf, unknownWord, wrongValue, type Problem } from './problem.js';

export type TaskReading = { ok: true; task: Task } | { ok: false; problems: Problem[] };

/** A task as a door takes it: values that are understood, and no contradiction. */
export function readTask(input: unknown, config: PolicyConfig): TaskReading {
  const reading = readTaskValues(input, config);
  const task = reading.ok ? reading.task : {};
  const problems = [...(reading.ok ? [] : reading.problems), ...contradictionsOf(task, config)];
  return problems.length > 0 ? { ok: false, problems } : { ok: true, task };
}

/**
 * A task from outside, checked value by value: nothing is replaced by a default, every problem is reported at once.
 * Absent, undefined and null members mean the default. Members it does not know are the door's to refuse.
 */
export function readTaskValues(input: unknown, config: PolicyConfig): TaskReading {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return { ok: false, problems: [wrongValue('task', input, 'an object')] };
  const problems: Problem[] = [];
  const given = new Map<string, unknown>(Object.entries(input));
  const member = <T>(field: string, read: (value: unknown) => T | Problem): T | undefined => {
    const value = given.get(field);
    if (value === undefined || value === null) return undefined;
    const result = read(value);
    if (!isProblem(result)) return result;
    problems.push(result);
    return undefined;
  };
  const word = <W extends string>(field: string, allowed: readonly W[]): W | undefined =>
    member(field, (value) => allowed.find((one) => one === value) ?? unknownWord(field, value, allowed));
  const flag = (field: string): boolean | undefined =>
    member(field, (value) => (typeof value === 'boolean' ? value : wrongValue(field, value, 'true or false')));
  const number = (field: string, rule: NumberRule): number | undefined =>
    member(field, (value) => checkNumber(field, value, rule) ?? numberOf(value));
  const list = (field: string): string[] | undefined =>
    member(field, (value) =>
      Array.isArray(value) && value.every((one) => typeof one === 'string')
        ? value
        : wrongValue(field, value, 'a list of words'),
    );

  const lanes = config.lanes.map(({ id }) => id);
  const vendors = [...new Set(config.lanes.map(({ vendor }) => vendor))];
  const task = defined({
    role: word('role', ROLES),
    complexity: number('complexity', NUMBERS.complexity),
    length: word('length', LENGTHS),
    contextTokens: number('contextTokens', NUMBERS.contextTokens),
    needsSchema: flag('needsSchema'),
    needsRepoWrite: flag('needsRepoWrite'),
    independentOf: word('independentOf', [...new Set([...lanes, ...vendors])]),
    strictIndependence: flag('strictIndependence'),
    pin: word('pin', lanes),
    pinModel: member(
      'pinModel',
      (value) => modelName(value) ?? wrongValue('pinModel', value, 'a model name without blanks, not starting with -'),
    ),
    pinModelLane: word('pinModelLane', lanes),
    modelsOut: list('modelsOut'),
    lanesOut: list('lanesOut'),
    schemaRefusedBy: list('schemaRefusedBy'),
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, task };
}

/** Requests that no state of the windows could ever satisfy. */
export function contradictionsOf(task: Task, config: PolicyConfig): Problem[] {
  const producer = producerVendor(task.independentOf, config);
  if (producer === null || !task.strictIndependence) return [];
  const foreign = config.lanes.filter(({ vendor }) => vendor !== producer).map(({ id }) => id);
  const others = foreign.length > 0 ? foreign.join(', ') : 'none is configured';
  if (task.pin !== undefined && config.lanes.some(({ id, vendor }) => id === task.pin && vendor === producer)) {
    return [
      contradiction(
        'pin',
        `pinned to ${task.pin}, strictly independent of ${producer}, which makes its models`,
        `a lane of another vendor (${others}), or no --strict-independence`,
      ),
    ];
  }
  if (foreign.length === 0) {
    return [
      contradiction(
        'strictIndependence',
        `strictly independent of ${producer}, the only vendor configured`,
        'a lane of another vendor in the config file, or no --strict-independence',
      ),
    ];
  }
  return [];
}

/** It becomes an argument of the vendor's CLI: a leading dash would be read as a flag there. */
function modelName(value: unknown): string | null {
  return typeof value === 'string' && /^[^\s\p{C}-][^\s\p{C}]{0,199}$/u.test(value) ? value : null;
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'code' in value && 'nearest' in value;
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(members: T): Defined<T> {
  const kept: Defined<T> = { ...members };
  for (const key of Object.keys(kept) as (keyof T)[]) if (kept[key] === undefined) delete kept[key];
  return kept;
}
