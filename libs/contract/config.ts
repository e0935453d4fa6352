import { BOUNDS } from './bounds.js';
import type { PolicyConfig, TierModel } from './decision.js';
import type { Weekday } from './hold-back.js';
import type { Tier, WindowKind } from './words.js';

/** One way to run a model, resolved: defaults, file, environment and flags already merged. */
export type LaneConfig = {
  id: string;
  vendor: string;
  /** Which adapter of libs/vendors drives it. */
  kind: 'codex' | 'claude';
  /** Whose windows it draws on; two lanes may share one. */
  account: string;
  /** The CLI to look for on PATH (or an absolute path). */
  command: string;
  models: Record<Tier, TierModel>;
  /** Agents at once, over all boxes; null: only the account's bound applies. */
  slots: number | null;
  /** The only way to point a CLI elsewhere; shown wherever the lane is shown (names; the endpoint's host). */
  env: Record<string, string>;
  passEnv: string[];
  /** Needed when env names an endpoint that is not loopback. */
  allowEndpoint: boolean;
  /** Age up to which a reading is fresh, ms. */
  freshnessMs: number;
  /** Where claude's usage is asked while no run tells it; null: where the lane's CLI itself goes. */
  usageUrl: string | null;
  /** No progress on the vendor's stream for this long ends the run as `silence`, ms. */
  silenceMs: number;
  /** Points a started attempt is taken to cost before it was measured, per kind of window. */
  cost: Record<WindowKind, number>;
};

/** Every duration in ms. Sources: specs of the project, §10 of the rulings; tests set them shorter. */
export type Timing = {
  /** Reservation between fetch and bind. */
  tokenLeaseMs: number;
  /** TERM → KILL. */
  killGraceMs: number;
  /** Added to deadline + kill grace for the bound lease. */
  boundSlackMs: number;
  /** Settling past this becomes estimated, per lane kind without an idle probe. */
  settleCeilingMs: number;
  /** Reserve refuses for this long after a Redis start, so that live nodes assert first. */
  restartGraceMs: number;
  sweepMs: number;
  /** A refused worker looks again at least this often. */
  wakeFallbackMs: number;
  lockMs: number;
  stalledMs: number;
  nodeLeaseMs: number;
  nodeRenewMs: number;
  heartbeatMs: number;
  /** How often the prober looks which meter is due. */
  probeMs: number;
  /** Runs that end within this time of each other share one question to the vendor. */
  probeGatherMs: number;
  /** The daemon stops itself after this long with nothing waiting or running. */
  idleStopMs: number;
  /** Closing after a refusal that stated no reset: 5, 10, 20, 40, 60 min. */
  refusalMs: number[];
  /** A queued record without a ticket for this long gets one. */
  ticketRepairMs: number;
  owedRepairMs: number;
  /** A node without a sign of life for this long, ms, is taken for gone, with its runs. Longer than a reboot. */
  lostAfterMs: number;
};

export type AccountConfig = { id: string; slots: number | null };

/**
 * In the box's own time. `from` and `until`: minutes of the day; `days` empty: every day; `account` null: every
 * account.
 */
export type HoldBackHours = {
  from: number;
  until: number;
  days: Weekday[];
  account: string | null;
  points: number;
  slots: number;
};

/** What a message may be about. */
export const NOTICES = [
  'batch-ended',
  'failed',
  'needs-look',
  'deferred',
  'lane-closed',
  'lane-opened',
  'login-lapsed',
  'meter-dark',
] as const;
export type Notice = (typeof NOTICES)[number];

/** One of webhook, ntfy and command is set. */
export type NotifyTarget = { on: Notice[]; webhook: string | null; ntfy: string | null; command: string[] | null };

/** Ended things are kept for this many days and up to this many; the tighter bound wins. `most` null: no bound. */
export type Keep = { days: number; most: number | null };
export type Retention = { records: Keep; receipts: Keep; runs: Keep; blobs: Keep };

export type Config = {
  lanes: LaneConfig[];
  preference: { first: string; weightPoints: number };
  pressure: { tight: number; critical: number; exhausted: number };
  /** Agents at once. account: per account, over all boxes; node: per box; dark: per account while its meter is dark. */
  slots: { account: number; node: number; dark: number };
  /** What an account has of its own; the others have `slots.account`. */
  accounts: AccountConfig[];
  /** Kept for interactive work: slots and points. */
  holdBack: { slots: number; points: number };
  /** More of it at certain hours: "keep 20 points for me until 09:00". */
  holdBackHours: HoldBackHours[];
  allowFullAccess: boolean;
  /** Bash commands a claude reader may run, as its permission rules. */
  readCommands: string[];
  codexSessionsRoot: string | null;
  claudeCredentials: string | null;
  nodeId: string;
  redisUrl: string | null;
  /** The coordinator of several boxes; both null on one box. */
  fleet: { url: string | null; token: string | null };
  /** Absolute folders under which a dispatch that comes over TCP may work. */
  roots: string[];
  notify: NotifyTarget[];
  retention: Retention;
  /** New work is refused while the disk of the state folder has less than this left, megabytes; 0: never. */
  disk: { floorMb: number };
  /** How deep an agent may dispatch further agents. */
  bounds: { depth: number };
  timing: Timing;
};

export function policyConfig(config: Pick<Config, 'lanes' | 'preference' | 'pressure'>): PolicyConfig {
  return {
    lanes: config.lanes.map(({ id, vendor, models }) => ({ id, vendor, models })),
    preference: config.preference,
    pressure: config.pressure,
  };
}

const codexModels: Record<Tier, TierModel> = {
  frontier: { model: 'gpt-5.6-sol', effort: 'high' },
  balanced: { model: 'gpt-5.6-terra', effort: 'medium' },
  fast: { model: 'gpt-5.6-luna', effort: 'low' },
};
const claudeModels: Record<Tier, TierModel> = {
  frontier: { model: 'opus', effort: 'high' },
  balanced: { model: 'sonnet', effort: 'medium' },
  fast: { model: 'haiku', effort: 'low' },
};

const lane = {
  slots: null,
  env: {},
  passEnv: [],
  allowEndpoint: false,
  usageUrl: null,
  cost: { five_hour: 1, weekly: 0.2, monthly: 0.2, other: 1 },
};

export const DEFAULT_TIMING: Timing = {
  tokenLeaseMs: 10_000,
  killGraceMs: 5_000,
  boundSlackMs: 60_000,
  settleCeilingMs: 600_000,
  restartGraceMs: 3_000,
  sweepMs: 2_000,
  wakeFallbackMs: 5_000,
  lockMs: 5_000,
  stalledMs: 5_000,
  nodeLeaseMs: 15_000,
  nodeRenewMs: 5_000,
  heartbeatMs: 5_000,
  probeMs: 1_000,
  probeGatherMs: 1_500,
  idleStopMs: 30 * 60_000,
  refusalMs: [5, 10, 20, 40, 60].map((minutes) => minutes * 60_000),
  ticketRepairMs: 5_000,
  owedRepairMs: 5_000,
  lostAfterMs: 10 * 60_000,
};

/** Defaults that depend on the box (node id, slots.node = max(2, 2 × cores)) are filled in by libs/config. */
export const DEFAULT_CONFIG: Config = {
  lanes: [
    {
      ...lane,
      id: 'codex',
      vendor: 'openai',
      kind: 'codex',
      account: 'codex',
      command: 'codex',
      models: codexModels,
      freshnessMs: 10_000,
      silenceMs: 15 * 60_000,
    },
    {
      ...lane,
      id: 'claude',
      vendor: 'anthropic',
      kind: 'claude',
      account: 'claude',
      command: 'claude',
      models: claudeModels,
      freshnessMs: 45_000,
      silenceMs: 5 * 60_000,
    },
  ],
  preference: { first: 'codex', weightPoints: 100 },
  pressure: { tight: 65, critical: 85, exhausted: 95 },
  slots: { account: 8, node: 4, dark: 2 },
  accounts: [],
  holdBack: { slots: 1, points: 1 },
  holdBackHours: [],
  allowFullAccess: false,
  // No find and no rg: `-exec`, `-delete` and `--pre` write, and a reader has Glob and Grep.
  readCommands: [
    'cat',
    'ls',
    'grep',
    'git diff',
    'git log',
    'git show',
    'git status',
    'npm test',
    'node --test',
    'pytest',
    'cargo test',
    'go test',
  ],
  codexSessionsRoot: null,
  claudeCredentials: null,
  nodeId: 'localhost',
  redisUrl: null,
  fleet: { url: null, token: null },
  roots: [],
  disk: { floorMb: 200 },
  notify: [],
  // Our own choice: a month of records and answers, a fortnight of run folders, and receipts for the year's report.
  retention: {
    records: { days: 30, most: 20_000 },
    receipts: { days: 400, most: null },
    runs: { days: 14, most: 5_000 },
    blobs: { days: 30, most: null },
  },
  bounds: { depth: BOUNDS.depth },
  timing: DEFAULT_TIMING,
};
