import {
  BOUNDS,
  DEFAULT_TIMEOUT_MS,
  errorBody,
  parseMoment,
  policyConfig,
  type Config,
  type Decision,
  type DispatchRecord,
  type DispatchRequest,
  type ErrorBody,
  type LaneConfig,
  type LanesFacts,
  type StoredRequest,
} from '#contract';
import { laneCost } from '#gate';
import { accessOf, contradictionsOf, decide, deferral, producerVendor, taskOf, waitingLane } from '#policy';
import type { NewDispatch } from '#queue';
import { ANY_NODE } from '#store';
import { schemaVerdict, type SchemaRulings } from '#vendors/schema-rules';
import { fromPolicy, refusal } from './problems.js';
import type { PlaceKind } from './resources.js';
import { withReview, type Reviewed } from './review.js';

/** What the box says about one request, gathered before (gather.ts): admission itself has no effects. */
export type AdmissionFacts = {
  /** Milliseconds since the epoch. */
  now: number;
  place: PlaceKind;
  project: string;
  installed: Record<string, boolean>;
  lanes: LanesFacts;
  /** Depth of the attempt it was submitted from: 0 for one that no agent submitted; null when no agent submits this. */
  parentDepth: number | null;
  /** What it grades; null when it grades nothing that is on record. */
  reviewed: Reviewed | null;
  schema: SchemaLook;
  /** Variables of its environment that no agent gets. */
  refusedVariables: { name: string; why: string }[];
};

/**
 * `problems`: why it is no JSON Schema; `rulings`: whether each kind of lane's vendor accepts it. Empty without a schema.
 */
export type SchemaLook = { problems: string[]; rulings: SchemaRulings };

export type Admission = { ok: true; news: NewDispatch } | { ok: false; error: ErrorBody };

/**
 * A request that was checked word by word (parse-submit.ts), as a new record: decided, with access, class and cost; or
 * why it is refused before anything is recorded. When no lane is usable now it is queued where a window opens first,
 * or, when it may not wait, recorded as deferred at once.
 */
export function admit(sent: DispatchRequest, facts: AdmissionFacts, config: Config): Admission {
  // Without a folder there is nothing to write, whatever its role.
  const asked: DispatchRequest = sent.node === 'any' ? { ...sent, readOnly: true } : sent;
  const reviewing = facts.reviewed === null ? { ok: true as const, request: asked } : withReview(asked, facts.reviewed);
  if (!reviewing.ok) return reviewing;
  const { request } = reviewing;
  const error = refusedFor(request, facts, config);
  if (error) return { ok: false, error };
  const verdict = schemaVerdict(permittedLanes(request, config), facts.schema.rulings);
  if (verdict.none)
    return {
      ok: false,
      error: errorBody('CMO_E_SCHEMA_FILE', 'no permitted lane takes this schema', {
        details: verdict.refused,
        fix: 'fix what is named above',
      }),
    };
  // Keep out lanes whose vendor would reject the schema, and say so to the caller.
  const told = {
    ...(verdict.refusedBy.length > 0 && { schemaRefusedBy: verdict.refusedBy }),
    ...(verdict.warnings.length > 0 && { warnings: verdict.warnings }),
  };
  const decision = decide(taskOf({ ...request, ...told }), facts.lanes, policyConfig(config));
  const record = recordOf(request, decision, facts, config);
  return {
    ok: true,
    news: { record: { ...record, request: { ...record.request, ...told } }, blobs: blobsOf(request) },
  };
}

function refusedFor(request: DispatchRequest, facts: AdmissionFacts, config: Config): ErrorBody | null {
  const place = placeError(request.cwd, facts.place);
  if (place) return place;
  if (facts.schema.problems.length > 0)
    return errorBody('CMO_E_SCHEMA_FILE', undefined, { details: facts.schema.problems });
  if (facts.refusedVariables.length > 0) {
    const details = facts.refusedVariables.map(({ name, why }) => `${name}: ${why}`);
    return errorBody('CMO_E_NOT_PERMITTED', 'an agent does not get every variable', { details, fix: 'leave them out' });
  }
  if (request.fullAccess) {
    if (!config.allowFullAccess)
      return errorBody('CMO_E_NOT_PERMITTED', 'full access is not allowed by the configuration', {
        fix: 'set allowFullAccess to true in the config file, or leave --full-access out',
      });
    if (accessOf(request) === 'read')
      return errorBody('CMO_E_UNSATISFIABLE', 'full access and an agent that only reads', {
        fix: 'leave --full-access out, or raise the access with --write',
      });
  }
  if (facts.parentDepth !== null && facts.parentDepth + 1 > config.bounds.depth) {
    return errorBody('CMO_E_NOT_PERMITTED', `an agent at depth ${facts.parentDepth} may not dispatch further agents`, {
      fix: 'return the work to the dispatch that started it',
    });
  }
  // The vendor that a review names is known only now, and a pin on that very vendor can't be strict.
  const contradictions = request.reviewOf === undefined ? [] : contradictionsOf(taskOf(request), policyConfig(config));
  if (contradictions.length > 0) return refusal(contradictions.map((problem) => fromPolicy(problem, '')));
  const permitted = permittedLanes(request, config);
  if (!permitted.some((lane) => Object.hasOwn(facts.installed, lane.id) && facts.installed[lane.id] === true)) {
    const details = permitted.map((lane) => `${lane.id}: no ${lane.command} on the submitter's PATH`);
    return errorBody('CMO_E_NO_LANE', undefined, { details });
  }
  return timesError(request, facts.now) ?? lengthError(request, permitted);
}

/** A dispatch that could only expire is refused while its sender still looks. */
function timesError({ notBefore, deadline, ttlMs }: DispatchRequest, now: number): ErrorBody | null {
  const [from, end] = [momentOf(notBefore, now), momentOf(deadline, now)];
  if ((from ?? now) > now + MOST_AHEAD_MS || (end ?? now) > now + MOST_AHEAD_MS)
    return errorBody('CMO_E_USAGE', '--not-before or --deadline is more than a year away', {
      fix: 'name a nearer time',
    });
  if (end !== null && end <= now)
    return errorBody('CMO_E_UNSATISFIABLE', `its --deadline has passed: ${new Date(end).toISOString()}`, {
      fix: 'name a later time',
    });
  if (from !== null && end !== null && from >= end)
    return errorBody('CMO_E_UNSATISFIABLE', '--not-before is not before the --deadline', {
      fix: 'name a later deadline',
    });
  if (from !== null && ttlMs !== undefined && from >= now + ttlMs)
    return errorBody('CMO_E_UNSATISFIABLE', 'its --ttl is over before its --not-before', {
      fix: 'name a longer --ttl',
    });
  return null;
}

function momentOf(said: string | undefined, now: number): number | null {
  return said === undefined ? null : parseMoment(said, now);
}

/** Farther away than any window is a slip. */
const MOST_AHEAD_MS = 366 * 86_400_000;

function placeError(cwd: string, place: PlaceKind): ErrorBody | null {
  switch (place) {
    case 'folder':
      return null;
    case 'missing':
      return errorBody('CMO_E_CWD', `the working directory does not exist: ${cwd}`);
    case 'relative':
      return errorBody('CMO_E_CWD', `the working directory must be an absolute path: ${cwd}`);
    case 'not-a-folder':
      return errorBody('CMO_E_CWD', `the working directory is not a folder: ${cwd}`);
    case 'unreadable':
      return errorBody('CMO_E_CWD', `the working directory cannot be entered: ${cwd}`);
  }
}

/** The lanes that no window could ever keep it from. A review that may degrade can run anywhere. */
function permittedLanes({ pin, independentOf, strictIndependence }: DispatchRequest, config: Config): LaneConfig[] {
  if (pin !== undefined) return config.lanes.filter((lane) => lane.id === pin);
  const producer = producerVendor(independentOf, policyConfig(config));
  return strictIndependence && producer !== null
    ? config.lanes.filter((lane) => lane.vendor !== producer)
    : config.lanes;
}

/**
 * A re-route may take it to any permitted lane, so it must fit the narrowest: codex would leave with exit 1 and no
 * failure event, which reads like a broken run.
 */
function lengthError({ prompt }: DispatchRequest, permitted: LaneConfig[]): ErrorBody | null {
  if (prompt.length > BOUNDS.promptClaude)
    return errorBody('CMO_E_USAGE', `the prompt has ${prompt.length} characters; the most is ${BOUNDS.promptClaude}`, {
      fix: 'put the text into files and name them in the prompt',
    });
  const narrow = permitted.find((lane) => lane.kind === 'codex');
  if (prompt.length <= BOUNDS.promptCodex || !narrow) return null;
  return errorBody(
    'CMO_E_USAGE',
    `the prompt has ${prompt.length} characters; lane ${narrow.id} takes ${BOUNDS.promptCodex}`,
    { fix: 'pin a claude lane, or put the text into files and name them in the prompt' },
  );
}

function recordOf(
  request: DispatchRequest,
  decision: Decision,
  { now, project }: AdmissionFacts,
  config: Config,
): DispatchRecord {
  const maxWait = request.maxWaitMs ?? null;
  const laneId = decision.ok ? decision.lane : waitingLane(decision, policyConfig(config));
  const lane = config.lanes.find(({ id }) => id === laneId);
  const from = momentOf(request.notBefore, now);
  // What starts later is not judged by the windows of now.
  const waits = lane !== undefined && (decision.ok || maxWait !== 0 || (from !== null && from > now));
  return {
    schema: 1,
    id: request.id,
    state: waits ? 'queued' : 'deferred',
    attempt: 1,
    lane: waits ? lane.id : null,
    account: waits ? lane.account : null,
    home: request.node === 'any' ? ANY_NODE : config.nodeId,
    node: null,
    class: request.class ?? (request.batch === undefined ? 'normal' : 'batch'),
    project,
    access: accessOf(request),
    tier: decision.tier,
    cost: lane ? laneCost(lane) : {},
    // Given by the queue when it is submitted.
    tag: 0,
    submittedAt: now,
    notBefore: from !== null && from > now ? from : null,
    // The wait for a window begins when it could start.
    waitUntil: maxWait === null ? null : Math.max(now, from ?? now) + maxWait,
    startBy: request.ttlMs === undefined ? null : now + request.ttlMs,
    endBy: momentOf(request.deadline, now),
    left: [],
    retriedBy: null,
    startedAt: null,
    endedAt: waits ? null : now,
    cancelAsked: false,
    request: storedOf(request, config.nodeId),
    decision,
    history: [],
    takeUp: null,
    error: waits ? null : deferral(decision),
    needsLook: false,
  };
}

function storedOf(request: DispatchRequest, nodeId: string): StoredRequest {
  const { prompt: _prompt, env, schema, ...kept } = request;
  const origin = kept.node === 'any' ? { origin: nodeId } : {};
  return {
    timeoutMs: DEFAULT_TIMEOUT_MS,
    ...kept,
    ...origin,
    hasSchema: schema !== undefined,
    envNames: Object.keys(env).sort(),
  };
}

function blobsOf({ prompt, schema, env }: DispatchRequest): NewDispatch['blobs'] {
  return { prompt, schema: schema === undefined ? null : JSON.stringify(schema), env: JSON.stringify(env) };
}
