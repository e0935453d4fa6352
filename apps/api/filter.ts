import { CLASSES, STATES, type DispatchClass, type State } from '#contract';
import type { Filter } from '#store';
import { refuse } from './answers.js';
import { refusal, wrong } from './problems.js';
import { wordOf, wordsOf } from './query.js';

/** The keys of a query that choose dispatches. */
export const FILTERS = ['state', 'batch', 'label', 'lane', 'project', 'node', 'class', 'since', 'needsLook'] as const;

/** Which dispatches a query names: all of what it says must hold. `label` may stand there more than once. */
export function filterOf(query: Record<string, unknown>): Omit<Filter, 'limit'> {
  return {
    states: wordsOf(query, 'state', STATES) as State[] | undefined,
    batch: wordOf(query, 'batch'),
    labels: labelsOf(query['label']),
    lane: wordOf(query, 'lane'),
    project: wordOf(query, 'project'),
    node: wordOf(query, 'node'),
    class: wordsOf(query, 'class', CLASSES)?.[0] as DispatchClass | undefined,
    since: sinceOf(query['since']),
    needsLook: query['needsLook'] === undefined ? undefined : flagOf(query['needsLook']),
  };
}

function labelsOf(seen: unknown): string[] | undefined {
  if (seen === undefined) return undefined;
  const labels: unknown[] = Array.isArray(seen) ? seen : [seen];
  const good = labels.filter(
    (label): label is string => typeof label === 'string' && /^[^=]{1,256}=/.test(label) && label.length <= 600,
  );
  if (good.length !== labels.length) refuse(refusal([wrong('', 'label', seen, 'NAME=TEXT')]));
  return good;
}

function sinceOf(seen: unknown): number | undefined {
  if (seen === undefined) return undefined;
  const at = typeof seen === 'string' ? Date.parse(seen) : NaN;
  return Number.isNaN(at) ? refuse(refusal([wrong('', 'since', seen, 'an ISO time')])) : at;
}

function flagOf(seen: unknown): boolean {
  return seen === 'true' || (seen !== 'false' && refuse(refusal([wrong('', 'needsLook', seen, 'true or false')])));
}
