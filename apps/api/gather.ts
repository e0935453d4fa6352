import { DISPATCH_ID, parseAttemptId, type DispatchRequest } from '#contract';
import { schemaRulings } from '#vendors/schema-rules';
import type { AdmissionFacts, SchemaLook } from './admit.js';
import type { ApiResources } from './resources.js';
import { readReviewed } from './review.js';

type Sources = Pick<
  ApiResources,
  | 'config'
  | 'records'
  | 'gate'
  | 'now'
  | 'installed'
  | 'place'
  | 'project'
  | 'schemaProblems'
  | 'refusedVariables'
  | 'receipts'
>;

const NO_SCHEMA: SchemaLook = { problems: [], rulings: {} };

/**
 * What admission needs to know of each request of one submit. The same question is asked once: 250 dispatches of a
 * batch come from one folder, one shell and one parent.
 */
export function gatherer(sources: Sources): (request: DispatchRequest) => Promise<AdmissionFacts> {
  const { config, records, gate, now } = sources;
  const place = once(sources.place);
  const project = once(sources.project);
  const lookAtSchema = once(async (text: string): Promise<SchemaLook> => {
    const schema: unknown = JSON.parse(text);
    const problems = await sources.schemaProblems(schema);
    return { problems, rulings: problems.length > 0 ? {} : schemaRulings(config.lanes, schema) };
  });
  const depth = once((parent: string) => depthOf(parent, records, config.bounds.depth));
  const reviewed = once((id: string) => readReviewed(id, sources));
  const lanes = once(async (path: string | undefined) => {
    const installed = await sources.installed(path);
    return { installed, lanes: await gate.facts(config.lanes, installed) };
  });
  return async (request) => {
    const [where, name, look, parentDepth, schema, review] = await Promise.all([
      request.node === 'any' ? ('folder' as const) : place(request.cwd),
      request.node === 'any' ? 'any' : project(request.cwd),
      lanes(Object.hasOwn(request.env, 'PATH') ? request.env['PATH'] : undefined),
      request.parent === undefined ? null : depth(request.parent),
      request.schema === undefined ? NO_SCHEMA : lookAtSchema(JSON.stringify(request.schema)),
      request.reviewOf === undefined ? null : reviewed(request.reviewOf),
    ]);
    return {
      now: now(),
      place: where,
      project: name,
      ...look,
      parentDepth,
      schema,
      reviewed: review,
      refusedVariables: sources.refusedVariables(request.env),
    };
  };
}

/**
 * How deep the dispatch of an attempt is: 0 when no agent submitted it. One that is not on record here (another state
 * folder's) counts as 0: the bound is against runaway trees, and those are on record.
 */
async function depthOf(parent: string, records: Sources['records'], most: number): Promise<number> {
  let depth = 0;
  let id = parseAttemptId(parent)?.dispatch;
  while (id !== undefined && DISPATCH_ID.test(id) && depth <= most) {
    const above = (await records.read(id))?.request.parent;
    if (above === undefined) return depth;
    id = parseAttemptId(above)?.dispatch;
    depth++;
  }
  return depth;
}

function once<A, T>(ask: (question: A) => Promise<T>): (question: A) => Promise<T> {
  const answers = new Map<A, Promise<T>>();
  return (question) => {
    const known = answers.get(question) ?? ask(question);
    answers.set(question, known);
    return known;
  };
}
