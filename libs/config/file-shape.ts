import { NOTICES, WEEKDAYS, type LaneConfig, type Timing } from '#contract';
import { flag, list, map, number, object, orNull, text, textOr, whole, word, type Read, type Shape } from './shape.js';
import {
  absolutePath,
  clockTime,
  command,
  duration,
  effort,
  laneId,
  modelId,
  name,
  nodeId,
  redisUrl,
  token,
  variableName,
  variableValue,
  webUrl,
} from './values.js';

/**
 * config.json, every key. The keys of the tool that people come from keep their place (models, preference, pressure,
 * freshness, reservation, fleet, codexSessionsRoot, claudeCredentials); `lanes` holds the same things per lane and
 * more.
 */
const DAY = 86_400_000;

export const LANE_KINDS = ['codex', 'claude'] as const satisfies LaneConfig['kind'][];

/** null: no effort is named to the CLI. `reasoning` is what codex users call it. */
const tierModel = textOr(modelId, object({ model: modelId, effort: orNull(effort), reasoning: orNull(effort) }));
const models = object({ fast: tierModel, balanced: tierModel, frontier: tierModel });
const age = duration(1, DAY);
const points = number(0.001, 100);
const cost = object({ five_hour: points, weekly: points, monthly: points, other: points });

const lane = object({
  vendor: name,
  kind: word(LANE_KINDS),
  account: name,
  command,
  models,
  slots: orNull(whole(1, 10_000)),
  env: map(variableName, variableValue),
  passEnv: list(variableName, 100),
  allowEndpoint: flag(),
  usageUrl: orNull(webUrl),
  silence: duration(1, DAY),
  freshness: age,
  cost,
});

const ms = duration(1, 7 * DAY);
/** For the suite and the benches: shorter clocks. Nothing here is meant to be tuned on a real box. */
const timing = object({
  tokenLeaseMs: ms,
  killGraceMs: ms,
  boundSlackMs: ms,
  settleCeilingMs: ms,
  restartGraceMs: duration(0, DAY),
  sweepMs: ms,
  wakeFallbackMs: ms,
  lockMs: ms,
  stalledMs: ms,
  nodeLeaseMs: ms,
  nodeRenewMs: ms,
  heartbeatMs: ms,
  probeMs: ms,
  probeGatherMs: ms,
  idleStopMs: ms,
  refusalMs: list(ms, 20),
  ticketRepairMs: ms,
  owedRepairMs: ms,
  lostAfterMs: ms,
} satisfies Record<keyof Timing, Shape<unknown>>);

/** "Keep 20 points for me until 09:00": `{"until": "09:00", "points": 20}`. */
const hours = object({
  from: clockTime,
  until: clockTime,
  days: list(word(WEEKDAYS), 7),
  account: name,
  points: number(0, 100),
  slots: whole(0, 10_000),
});
const target = object({
  on: list(word(NOTICES), NOTICES.length),
  webhook: webUrl,
  ntfy: webUrl,
  command: list(
    text('a word of a command', (value) => value !== '' && !value.includes('\0')),
    100,
  ),
});
const keep = object({ days: number(0.01, 36_500), most: orNull(whole(1, 100_000_000)) });

export const fileShape = object({
  $schema: text('an address'),
  models: map(name, models),
  preference: object({ first: laneId, weightPoints: number(0, 1000) }),
  pressure: object({ tight: number(0, 100), critical: number(0, 100), exhausted: number(0, 100) }),
  freshness: map(name, age),
  reservation: map(name, points),
  lanes: map(name, lane),
  slots: object({ account: whole(1, 10_000), node: whole(1, 10_000), dark: whole(1, 10_000) }),
  accounts: map(name, object({ slots: orNull(whole(1, 10_000)) })),
  holdBack: object({ slots: whole(0, 10_000), points: number(0, 100), hours: list(hours, 50) }),
  allowFullAccess: flag(),
  readCommands: list(
    text('a command', (value) => value.trim() !== '' && !/[\p{Cc}()]/u.test(value)),
    500,
  ),
  codexSessionsRoot: absolutePath,
  claudeCredentials: absolutePath,
  redisUrl,
  fleet: object({ url: webUrl, token, nodeId }),
  roots: list(absolutePath, 500),
  notify: list(target, 50),
  disk: object({ floorMb: whole(0, 10_000_000) }),
  retention: object({ records: keep, receipts: keep, runs: keep, blobs: keep }),
  bounds: object({ depth: whole(0, 10) }),
  timing,
});

export type HoursEntry = Read<typeof hours>;
export type TargetEntry = Read<typeof target>;
export type ConfigFile = Read<typeof fileShape>;
export type LaneEntry = Read<typeof lane>;
export type ModelsEntry = Read<typeof models>;
export type TierEntry = Read<typeof tierModel>;
