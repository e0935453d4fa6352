import { DEFAULT_CONFIG, dispatchId, type Chosen, type Config, type DispatchRecord, type LaneConfig } from '#contract';
import { laneCost } from '#gate';

let made = 0;

/** A fresh dispatch id; unique within the test run. */
export function newId(): string {
  made += 1;
  const random = new Uint8Array(16);
  random[15] = made % 32;
  random[14] = Math.floor(made / 32) % 32;
  random[13] = Math.floor(made / 1024) % 32;
  random[0] = process.pid % 32;
  return dispatchId(Date.now(), random);
}

/** The defaults with short durations, no hold-back and room: a test widens or narrows what it is about. */
export function testConfig(
  change: Partial<Omit<Config, 'timing'>> & { timing?: Partial<Config['timing']> } = {},
): Config {
  const { timing, ...rest } = change;
  return {
    ...DEFAULT_CONFIG,
    nodeId: 'test-node',
    holdBack: { slots: 0, points: 0 },
    slots: { account: 8, node: 8, dark: 8 },
    ...rest,
    timing: { ...DEFAULT_CONFIG.timing, restartGraceMs: 0, ...timing },
  };
}

export function laneOf(config: Config, id: string): LaneConfig {
  const lane = config.lanes.find((l) => l.id === id);
  if (!lane) throw new Error(`no lane ${id}`);
  return lane;
}

const DECISION: Chosen = {
  ok: true,
  defer: false,
  lane: 'codex',
  vendor: 'openai',
  model: 'gpt-5.6-terra',
  effort: 'medium',
  degradedReview: false,
  fallback: null,
  weight: 0.512,
  tier: 'balanced',
  reason: 'implement · complexity 3/5 · length m → balanced',
  notes: [],
  factors: {
    role: 'implement',
    complexity: 3,
    length: 'm',
    contextTokens: 0,
    needsSchema: false,
    needsRepoWrite: false,
    independentOf: null,
    strictIndependence: false,
    pin: null,
    pinModel: null,
  },
  facts: {},
  states: {},
  laneStates: {},
  candidates: [],
  independence: null,
};

/** `lane` is never null here: a record that is deferred at once gets that afterwards. */
export type RecordChange = Omit<Partial<DispatchRecord>, 'lane'> & { lane?: string };

/** A queued record on a lane, as the api would make it. */
export function testRecord(config: Config, change: RecordChange = {}): DispatchRecord {
  const lane = laneOf(config, change.lane ?? 'codex');
  const id = change.id ?? newId();
  const decision: Chosen = { ...DECISION, lane: lane.id, vendor: lane.vendor, model: lane.models.balanced.model };
  return {
    schema: 1,
    id,
    state: 'queued',
    attempt: 1,
    account: lane.account,
    home: config.nodeId,
    node: null,
    class: 'normal',
    project: 'project',
    access: 'read',
    tier: 'balanced',
    cost: laneCost(lane),
    tag: 0,
    submittedAt: Date.now(),
    notBefore: null,
    waitUntil: null,
    startBy: null,
    endBy: null,
    left: [],
    retriedBy: null,
    startedAt: null,
    endedAt: null,
    cancelAsked: false,
    request: { id, cwd: '/tmp', hasSchema: false, envNames: [] },
    decision,
    history: [],
    takeUp: null,
    error: null,
    needsLook: false,
    ...change,
    lane: lane.id,
  };
}
