import {
  policyConfig,
  TIERS,
  type AccountMeter,
  type Chosen,
  type Config,
  type DayTime,
  type Decision,
  type LaneConfig,
  type LimitsData,
  type MeterWindowStatus,
  type Task,
  type WindowKind,
} from '#contract';
import { decide } from './decide.js';
import { factsOfLimits, LIMITS_STALE_MS } from './limits-facts.js';
import { chargeOf, roomFor, type Charge } from './room.js';

/** `startsAfter`: when a window has room for it, ms since the epoch; `now` when there is room; null: unknown. */
export type ProjectedTask = { decision: Decision; startsAfter: number | null };

/** What the whole adds to a window, points; `atOnce`: what of it starts now. */
export type ProjectedWindow = {
  account: string;
  window: string;
  usedPercent: number;
  effective: number;
  adds: number;
  atOnce: number;
  limit: number;
  resetsAt: string | null;
};

export type Projection = { tasks: ProjectedTask[]; windows: ProjectedWindow[] };

/** Resets that are looked at; a batch that needs more of them takes weeks. */
const MOST_RESETS = 60;
const HOUR = 3_600_000;
const LENGTH: Record<WindowKind, number | null> = {
  five_hour: 5 * HOUR,
  weekly: 7 * 24 * HOUR,
  monthly: 30 * 24 * HOUR,
  other: null,
};

/**
 * Where many tasks would go, in their order, when each takes its points as it starts: the lanes fill up, what finds no
 * room waits for the next reset, and is decided again then. A first estimate: nothing else is spent meanwhile, and
 * every attempt costs what it is taken to cost.
 *
 * @param now ms
 * @param dayOf a moment by the box's own clock: what a person keeps for some hours counts
 */
export function project(
  tasks: readonly Task[],
  picture: LimitsData,
  config: Config,
  now: number,
  dayOf: (at: number) => DayTime,
): Projection {
  const board = new Board(picture, config, now, dayOf);
  const placed = new Map<number, ProjectedTask>();
  let waiting = [...tasks.keys()];
  let at = now;
  for (let resets = 0; waiting.length > 0; resets++) {
    waiting = waiting.filter((i) => {
      const decision = board.place(tasks[i] ?? {}, at);
      if (decision.ok || !placed.has(i)) placed.set(i, { decision, startsAfter: decision.ok ? at : null });
      return !decision.ok;
    });
    const next = board.nextReset(at);
    if (next === null || resets >= MOST_RESETS) break;
    at = next;
    board.pass(at);
  }
  return { tasks: tasks.flatMap((_, i) => placed.get(i) ?? []), windows: board.windows() };
}

/** The accounts as they fill. */
class Board {
  private readonly accounts: AccountMeter[];
  private readonly added = new Map<string, { adds: number; atOnce: number }>();
  private readonly config: Config;
  private readonly picture: LimitsData;
  private readonly start: number;
  private readonly dayOf: (at: number) => DayTime;

  constructor(picture: LimitsData, config: Config, now: number, dayOf: (at: number) => DayTime) {
    const known = now - Date.parse(picture.writtenAt) <= LIMITS_STALE_MS;
    this.accounts = picture.accounts.map((account) => ({
      ...account,
      windows: known ? account.windows.map((window) => ({ ...window })) : [],
      ...(known ? {} : { reading: null, inFlight: 0 }),
    }));
    [this.picture, this.config, this.start, this.dayOf] = [picture, config, now, dayOf];
  }

  /** On the first lane, in the policy's order, whose windows have room. */
  place(task: Task, at: number): Decision {
    const facts = factsOfLimits(
      { ...this.picture, writtenAt: new Date(at).toISOString(), accounts: this.accounts },
      at,
    );
    const full: string[] = [];
    for (;;) {
      const decision = decide(
        full.length === 0 ? task : { ...task, lanesOut: [...(task.lanesOut ?? []), ...full] },
        facts,
        policyConfig(this.config),
      );
      if (!decision.ok) return decision;
      const seat = this.seatOf(decision);
      // Slots free themselves: only a window makes it wait here.
      if (seat === null || this.hasRoom(seat, at)) {
        if (seat !== null) this.take(seat, at);
        return decision;
      }
      full.push(decision.lane);
    }
  }

  nextReset(at: number): number | null {
    const instants = this.accounts.flatMap(({ windows, closed }) => [
      ...windows.map(({ resetsAt }) => resetsAt),
      closed?.until ?? null,
    ]);
    const ahead = instants.flatMap((iso) => (iso !== null && Date.parse(iso) > at ? [Date.parse(iso)] : []));
    return ahead.length === 0 ? null : Math.min(...ahead);
  }

  /** Windows whose reset has come are empty, and full again a window's length later at the earliest. */
  pass(at: number): void {
    for (const account of this.accounts) {
      for (const window of account.windows) {
        if (window.resetsAt === null || Date.parse(window.resetsAt) > at) continue;
        const length = LENGTH[window.kind];
        Object.assign(window, {
          usedPercent: 0,
          reserved: 0,
          settling: 0,
          estimated: 0,
          effective: 0,
          resetsAt: length === null ? null : new Date(Date.parse(window.resetsAt) + length).toISOString(),
        } satisfies Partial<MeterWindowStatus>);
      }
    }
  }

  windows(): ProjectedWindow[] {
    return this.picture.accounts.flatMap(({ account, windows }) =>
      windows.map(({ id, usedPercent, effective, resetsAt }) => ({
        account,
        window: id,
        usedPercent,
        effective,
        ...(this.added.get(`${account}/${id}`) ?? { adds: 0, atOnce: 0 }),
        limit: this.config.pressure.exhausted,
        resetsAt,
      })),
    );
  }

  private seatOf(decision: Chosen): { account: AccountMeter; charge: Charge } | null {
    const lane: LaneConfig | undefined = this.config.lanes.find(({ id }) => id === decision.lane);
    const account = this.accounts.find((one) => one.account === lane?.account);
    return lane && account && TIERS.includes(decision.tier)
      ? { account, charge: chargeOf(account, lane, decision) }
      : null;
  }

  private hasRoom({ account, charge }: { account: AccountMeter; charge: Charge }, at: number): boolean {
    const room = roomFor(account, charge, this.config, { interactive: false, now: at, day: this.dayOf(at) });
    return room.free || room.for === 'slot';
  }

  private take({ account, charge }: { account: AccountMeter; charge: Charge }, at: number): void {
    for (const window of account.windows) {
      const points = charge[window.id] ?? 0;
      window.reserved += points;
      window.effective += points;
      const key = `${account.account}/${window.id}`;
      const sum = this.added.get(key) ?? { adds: 0, atOnce: 0 };
      this.added.set(key, { adds: sum.adds + points, atOnce: sum.atOnce + (at === this.start ? points : 0) });
    }
  }
}
