import type { LaneFacts, LanesFacts } from '#contract';
import { checkNumber, numberOf, wordOf, wrongValue, type Problem } from './problem.js';

export type FactsReading = { ok: true; facts: LanesFacts } | { ok: false; problems: Problem[] };

/** An effective percent may pass 100 (settling on top of a full window); far past it is no percent. */
const PERCENT = { min: 0, max: 1000, whole: false };

/**
 * Lane facts from outside (`limits` of `explain decision`, a receipt to be replayed). A lane of no entry is unknown, so
 * an absent object is fine; a member of the wrong kind is a problem, never a guess.
 */
export function readFacts(input: unknown): FactsReading {
  if (input === undefined || input === null) return { ok: true, facts: {} };
  if (typeof input !== 'object' || Array.isArray(input))
    return { ok: false, problems: [wrongValue('limits', input, 'an object of lanes')] };
  const problems: Problem[] = [];
  const lanes = Object.entries(input).flatMap(([lane, value]) => {
    if (value === undefined || value === null) return [];
    return [[lane, readLane(`limits.${lane}`, value, problems)] as const];
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, facts: Object.fromEntries(lanes) };
}

function readLane(path: string, value: unknown, problems: Problem[]): LaneFacts {
  const bad = (problem: Problem | null): void => {
    if (problem !== null) problems.push(problem);
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    bad(wrongValue(path, value, 'an object'));
    return { available: false };
  }
  const members = value as Record<string, unknown>;
  const { available, worstPercent, nextResetAt, hardBlocked, blockedBy, installed, scoped } = members;
  const facts: LaneFacts = { available: available === true };
  for (const [name, flag] of Object.entries({ available, hardBlocked, installed })) {
    if (flag !== undefined && flag !== null && typeof flag !== 'boolean')
      bad(wrongValue(`${path}.${name}`, flag, 'true or false'));
  }
  if (hardBlocked === true) facts.hardBlocked = true;
  if (typeof installed === 'boolean') facts.installed = installed;
  if (typeof blockedBy === 'string') facts.blockedBy = blockedBy;
  if (worstPercent !== undefined && worstPercent !== null) {
    bad(checkNumber(`${path}.worstPercent`, worstPercent, PERCENT));
    facts.worstPercent = numberOf(worstPercent);
  }
  facts.nextResetAt = readTime(`${path}.nextResetAt`, nextResetAt, bad);
  if (scoped !== undefined && scoped !== null) facts.scoped = readScoped(`${path}.scoped`, scoped, bad);
  return facts;
}

function readScoped(
  path: string,
  value: unknown,
  bad: (problem: Problem | null) => void,
): NonNullable<LaneFacts['scoped']> {
  if (!Array.isArray(value)) {
    bad(wrongValue(path, value, 'a list of windows'));
    return [];
  }
  return value.map((one: unknown, index) => {
    const { scope, percent, resetsAt } = (typeof one === 'object' && one !== null ? one : {}) as Record<
      string,
      unknown
    >;
    if (typeof scope !== 'string' || scope === '')
      bad(wrongValue(`${path}[${index}].scope`, scope, 'the name of a model family'));
    bad(checkNumber(`${path}[${index}].percent`, percent, PERCENT));
    return {
      scope: wordOf(scope),
      percent: numberOf(percent),
      resetsAt: readTime(`${path}[${index}].resetsAt`, resetsAt, bad),
    };
  });
}

function readTime(path: string, value: unknown, bad: (problem: Problem | null) => void): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && !Number.isNaN(Date.parse(value))) return value;
  bad(wrongValue(path, value, 'an ISO time, or null'));
  return null;
}
