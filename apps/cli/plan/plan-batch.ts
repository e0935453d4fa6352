import { accountSlots, type Config, type Task } from '#contract';
import { estimateEnd, type StartGroup } from '#policy/end-estimate';
import { project, type ProjectedTask, type ProjectedWindow } from '#policy/projection';
import { taskOf } from '#policy/read-request';
import { listReceipts } from '#receipts/read';
import type { Context } from '../command.js';
import { printData } from '../output/json.js';
import { batchPlanText } from '../output/plan-batch-text.js';
import { fitted } from '../output/table.js';
import { readBatch } from '../request/batch-file.js';
import { outlineOf, schemaOf, type Door } from '../request/build.js';
import { refuseEntries } from '../request/build-batch.js';
import { withReviewedVendor } from '../request/reviewed.js';
import type { TaskValues } from '../request/told.js';
import { dayOf, pictureOf, type Picture } from './picture.js';
import { lanesWithout } from './schema-lanes.js';

const DOOR: Door = { command: 'plan', class: 'batch', maxWaitMs: null };
/** Runs of the last week say how long the next take. */
const SEEN_MS = 7 * 86_400_000;

export type PlannedEntry = {
  name: string;
  lane: string | null;
  vendor: string | null;
  model: string | null;
  effort: string | null;
  tier: string;
  weight: number;
  independence: string | null;
  degradedReview: boolean;
  startsAfter: string | null;
  waits: boolean;
  notes: string[];
};

export type BatchPlan = {
  total: number;
  /**
   * Per lane: how many in all, how many of them its windows have room for now, and how many run at a time. `dark`: it has
   * no reading, so few run at a time and none of its windows was counted.
   */
  lanes: { lane: string; dispatches: number; atOnce: number; slots: number; dark: boolean }[];
  windows: ProjectedWindow[];
  /** How many start only then; until null: nothing says when. */
  waits: { until: string | null; dispatches: number }[];
  /** A first estimate. */
  end: { at: string | null; why: string };
  meters: { writtenAt: string; ageMs: number; stale: boolean } | null;
  dispatches: PlannedEntry[];
};

/**
 * Every entry is looked at as a submit would look at it, then all are placed in their order, each taking its points.
 */
export async function planBatch(path: string, flags: TaskValues, config: Config, context: Context): Promise<number> {
  const entries = await readBatch(path, flags, context);
  const named = await refuseEntries(entries, DOOR.command, async (source): Promise<Task> => {
    const schema = schemaOf(source.told.values, context);
    return taskOf({
      ...(await withReviewedVendor(outlineOf(source.told, DOOR, config, context), config, context)),
      ...(schema !== undefined && { schema, ...lanesWithout(schema, source.told.values.pin, config) }),
    });
  });
  const picture = await pictureOf(
    context,
    config,
    entries.some(({ read }) => read.ok && read.source.told.values.refresh === true),
  );
  const now = context.now();
  const { tasks, windows } = project(named, picture.data, config, now, dayOf);
  const groups = groupsOf(tasks);
  const seats = seatsIn(picture, config);
  const plan: BatchPlan = {
    total: tasks.length,
    lanes: [...new Set(groups.map(({ lane }) => lane))].map((lane) => ({
      lane,
      dispatches: sum(groups.filter((one) => one.lane === lane)),
      atOnce: sum(groups.filter((one) => one.lane === lane && one.startsAfter === now)),
      ...seats(lane),
    })),
    windows: windows.map((window) => ({ ...window, adds: rounded(window.adds), atOnce: rounded(window.atOnce) })),
    waits: waitsOf(tasks, now),
    end: await endOf(groups, tasks, seats, context),
    meters: metersOf(picture),
    dispatches: tasks.map((task, i) => plannedOf(entries[i]?.name ?? '', task, now)),
  };
  const { columns } = context.output;
  if (context.json) printData(context, 'cmo.plan/1', plan);
  else
    for (const line of fitted(batchPlanText(plan, picture, context.paint, now, columns), columns, 4))
      context.output.line(line);
  return plan.waits.length === 0 ? 0 : 3;
}

function groupsOf(tasks: readonly ProjectedTask[]): StartGroup[] {
  const groups = new Map<string, StartGroup>();
  for (const { decision, startsAfter } of tasks) {
    if (!decision.ok || startsAfter === null) continue;
    const key = `${decision.lane} ${startsAfter}`;
    groups.set(key, { lane: decision.lane, startsAfter, count: (groups.get(key)?.count ?? 0) + 1 });
  }
  return [...groups.values()];
}

function waitsOf(tasks: readonly ProjectedTask[], now: number): BatchPlan['waits'] {
  const waits = new Map<number | null, number>();
  for (const { startsAfter } of tasks)
    if (startsAfter !== now) waits.set(startsAfter, (waits.get(startsAfter) ?? 0) + 1);
  return [...waits]
    .sort(([a], [b]) => (a ?? Infinity) - (b ?? Infinity))
    .map(([until, dispatches]) => ({ until: until === null ? null : new Date(until).toISOString(), dispatches }));
}

/** How many of a lane run at a time, by the configuration; what was set by hand only the daemon knows. */
function seatsIn({ data }: Picture, config: Config): (lane: string) => { slots: number; dark: boolean } {
  return (id) => {
    const lane = config.lanes.find((one) => one.id === id);
    const account = lane?.account ?? id;
    const dark = (data.accounts.find((one) => one.account === account)?.reading ?? null) === null;
    const most = dark ? config.slots.dark : Infinity;
    return { slots: Math.min(accountSlots(config, account), config.slots.node, lane?.slots ?? Infinity, most), dark };
  };
}

/** The middle length of what each lane ran in the last week, as the receipts of this box tell it. */
async function endOf(
  groups: readonly StartGroup[],
  tasks: readonly ProjectedTask[],
  seats: ReturnType<typeof seatsIn>,
  context: Context,
): Promise<BatchPlan['end']> {
  const never = tasks.filter(({ startsAfter }) => startsAfter === null).length;
  if (never > 0) return { at: null, why: `nothing says when ${never} of them would start` };
  const lengths = new Map<string, number[]>();
  for (const line of await listReceipts(context.paths.receipts, { since: context.now() - SEEN_MS })) {
    if (line.kind === 'attempt' && line.outcome === 'ok')
      lengths.set(line.lane, [...(lengths.get(line.lane) ?? []), line.durationMs]);
  }
  const middle = (lane: string): number | null => {
    const seen = [...(lengths.get(lane) ?? [])].sort((a, b) => a - b);
    return seen[Math.floor(seen.length / 2)] ?? null;
  };
  const unseen = [...new Set(groups.map(({ lane }) => lane))].filter((lane) => middle(lane) === null);
  if (unseen.length > 0)
    return { at: null, why: `how long an agent takes on ${unseen.join(' and ')} was not seen here in the last week` };
  const at = estimateEnd(groups, (lane) => seats(lane).slots, middle);
  return at === null
    ? { at: null, why: 'there is nothing to run' }
    : {
        at: new Date(at).toISOString(),
        why: 'each lane with all its slots, each agent as long as the middle one of the last week, and nothing else spent',
      };
}

function plannedOf(name: string, { decision, startsAfter }: ProjectedTask, now: number): PlannedEntry {
  const { tier, weight, notes, independence } = decision;
  const where = decision.ok
    ? {
        lane: decision.lane,
        vendor: decision.vendor,
        model: decision.model,
        effort: decision.effort,
        degradedReview: decision.degradedReview,
      }
    : { lane: null, vendor: null, model: null, effort: null, degradedReview: false };
  return {
    name,
    ...where,
    tier,
    weight,
    independence,
    startsAfter: startsAfter === null ? null : new Date(startsAfter).toISOString(),
    waits: startsAfter !== now,
    notes,
  };
}

function metersOf({ data, age, stale }: Picture): BatchPlan['meters'] {
  return age === null ? null : { writtenAt: data.writtenAt, ageMs: age, stale };
}

function sum(groups: readonly StartGroup[]): number {
  return groups.reduce((total, { count }) => total + count, 0);
}

function rounded(points: number): number {
  return Number(points.toFixed(3));
}
