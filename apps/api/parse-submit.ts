import { BOUNDS, type DispatchRequest, type PolicyConfig } from '#contract';
import { checkRequest } from '#policy';
import { isOnceKey, ONCE } from './once.js';
import { fromPolicy, unknownKey, wrong, type Problem } from './problems.js';
import { readShape } from './request-schema.js';

export type Submit =
  | {
      ok: true;
      requests: DispatchRequest[];
      /** The `--once` key of the whole batch. */
      once: string | undefined;
    }
  | { ok: false; problems: Problem[] };

const OUTER = ['dispatches', 'once'];

/**
 * The body of a submit: all its requests, or every problem of every one. What only the box knows (folders, CLIs) is
 * asked later.
 */
export function parseSubmit(body: unknown, config: PolicyConfig): Submit {
  const outer =
    typeof body === 'object' && body !== null && !Array.isArray(body)
      ? new Map<string, unknown>(Object.entries(body))
      : null;
  if (!outer) return { ok: false, problems: [wrong('', 'the body', body, 'an object with dispatches')] };
  const problems = [...outer.keys()].filter((key) => !OUTER.includes(key)).map((key) => unknownKey('', key, OUTER));
  const once = outer.get('once');
  if (once !== undefined && (typeof once !== 'string' || !isOnceKey(once)))
    problems.push(wrong('', 'once', once, ONCE));
  const inputs = outer.get('dispatches');
  if (!Array.isArray(inputs) || inputs.length < 1 || inputs.length > BOUNDS.dispatches) {
    const seen = Array.isArray(inputs) ? `${inputs.length} of them` : inputs;
    return {
      ok: false,
      problems: [...problems, wrong('', 'dispatches', seen, `a list of 1 to ${BOUNDS.dispatches} dispatches`)],
    };
  }
  const requests: DispatchRequest[] = [];
  const ids = new Set<string>();
  for (const [i, input] of (inputs as unknown[]).entries()) {
    const path = inputs.length === 1 ? '' : `dispatches[${i}]`;
    const shape = readShape(input, path);
    const told = problems.length;
    problems.push(...shape.problems);
    if (
      typeof input !== 'object' ||
      input === null ||
      Array.isArray(input) ||
      typeof (input as { prompt?: unknown }).prompt !== 'string'
    )
      continue;
    // Of the right form up to words and numbers, which this call goes through one by one.
    const request = input as DispatchRequest;
    problems.push(...checkRequest(request, config).map((problem) => fromPolicy(problem, path)));
    // The published schema has the last word: if no field above was blamed, refuse with a general message.
    if (!shape.fits && problems.length === told)
      problems.push(
        wrong('', path === '' ? 'the dispatch' : path, input, 'what docs/reference/request.schema.json says'),
      );
    if (ids.has(request.id))
      problems.push(wrong(path, 'id', request.id, 'an id that no other dispatch of this submit has'));
    ids.add(request.id);
    requests.push(request);
  }
  return problems.length === 0 ? { ok: true, requests, once: once as string | undefined } : { ok: false, problems };
}
