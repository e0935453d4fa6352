import { thrownMessage, type Config, type LaneConfig } from '#contract';
import type { Log } from '../resources.js';
import { loginPath, readLogin, type Login } from './login.js';
import { isLapsing, lapsed, unrenewed, verdictOf, type Standing, type Verdict } from './login-standing.js';
import type { RepairTurn } from './repair-turn.js';
import { LEAST_MS, repairLogin, type Repair } from './token-repair.js';

/** Why a start on a lane has to wait. `shut`: it is no matter of seconds, so waiting work may go elsewhere. */
export type LoginHold = { why: string; shut: boolean };

/** Watches the logins of the claude lanes of this box: starts wait while one is renewed, one renewer at a time. */
export interface LoginKeeper {
  login(lane: LaneConfig): Promise<Login>;
  /**
   * Null: start. Begins the renewal of a login that is about to lapse when there is work for it or a person asks; an
   * idle daemon does not call vendors. Reads the file at most once a second.
   */
  hold(lane: LaneConfig, asked?: boolean): Promise<LoginHold | null>;
  /** As `hold` last saw it. */
  lastHold(lane: LaneConfig): LoginHold | null;
  /** The vendor called the token in this state of the login expired, whatever its file says. */
  refused(lane: LaneConfig, stamp: string): void;
  /** Settles when no renewal of this process is under way. */
  settled(): Promise<void>;
}

export type KeeperParts = {
  config: Config;
  environment: Readonly<Record<string, string | undefined>>;
  clock: () => number;
  log: Log;
  /**
   * The environment of what waits on the lane; null: nothing does. An agent that brings a token of its own needs no
   * file.
   */
  submitted: (lane: LaneConfig) => Promise<Readonly<Record<string, string>> | null>;
  /** Something waits or runs on this lane's account. */
  wanted: (lane: LaneConfig) => Promise<boolean>;
  /** A hold has begun or ended: work that waits at a door looks again. */
  changed: () => void;
  /** Quota readings that a renewal brought. */
  events: (lane: LaneConfig, events: unknown[]) => void;
  /** The smallest turn of a lane's CLI with the login in this file. */
  turn: (lane: LaneConfig, path: string) => Promise<RepairTurn>;
  /** How long a look at the file holds, ms. */
  lookMs?: number;
  leastMs?: number;
};

type Watched = {
  standing: Standing;
  refused: string | null;
  hold: LoginHold | null;
  looked: number;
  looking: Promise<LoginHold | null> | null;
  repair: Promise<void> | null;
};

export function loginKeeper({
  config,
  environment,
  clock,
  log,
  submitted,
  wanted,
  changed,
  events,
  turn,
  lookMs = 1_000,
  leastMs,
}: KeeperParts): LoginKeeper {
  const watched = new Map<string, Watched>();
  const of = (path: string): Watched => {
    const known = watched.get(path) ?? {
      standing: { kind: 'fine' },
      refused: null,
      hold: null,
      looked: Number.NEGATIVE_INFINITY,
      looking: null,
      repair: null,
    };
    watched.set(path, known);
    return known;
  };

  async function look(lane: LaneConfig, asked = false): Promise<LoginHold | null> {
    const path = loginPath(lane, config);
    if (lane.kind !== 'claude' || path === null) return null;
    const one = of(path);
    const now = clock();
    // A caller that comes while the file is being read waits for that result: it must not start on the previous one.
    if (one.looking && !asked) return one.looking;
    if (!asked && now >= one.looked && now - one.looked < lookMs) return one.hold;
    one.looking = lookAt(lane, one, now, asked).finally(() => {
      one.looking = null;
    });
    return one.looking;
  }

  async function lookAt(lane: LaneConfig, one: Watched, now: number, asked: boolean): Promise<LoginHold | null> {
    const login = await readLogin(lane, config, environment);
    let verdict = verdictOf(login, one.standing, one.refused, now);
    if (verdict.do !== 'start' && (await submitted(lane).catch(() => null))?.['CLAUDE_CODE_OAUTH_TOKEN'])
      verdict = { do: 'start' };
    if (verdict.do === 'wait' && verdict.repair && login.kind === 'file' && (asked || (await wanted(lane)))) {
      // Another look may have begun it while this one asked.
      verdict = verdictOf(login, one.standing, one.refused, now);
      if (verdict.do === 'wait' && verdict.repair) repair(lane, login, one);
    }
    take(one, verdict, lane);
    one.looked = now;
    return one.hold;
  }

  function take(one: Watched, verdict: Verdict, lane: LaneConfig): void {
    const hold = verdict.do === 'start' ? null : { why: verdict.why, shut: verdict.do === 'shut' };
    const before = one.hold;
    one.hold = hold;
    if (hold?.shut === before?.shut && hold?.why === before?.why) return;
    if (hold?.shut) log.warn({ lane: lane.id, why: hold.why }, 'the login has lapsed: nothing is started on this lane');
    changed();
  }

  function repair(lane: LaneConfig, login: Extract<Login, { kind: 'file' }>, one: Watched): void {
    const before = one.standing;
    one.standing = { kind: 'repairing', stamp: login.stamp };
    log.info({ lane: lane.id }, 'renewing the login with the smallest turn');
    const done = async (): Promise<void> => {
      const parts = {
        clock,
        turn: () => turn(lane, login.path),
        events: (seen: unknown[]) => events(lane, seen),
        ...(leastMs === undefined ? {} : { leastMs }),
      };
      const came = await repairLogin(login.path, login.stamp, parts).catch((error: unknown) => ({
        kind: 'failed' as const,
        why: thrownMessage(error),
      }));
      const now = clock();
      const renewed = came.kind === 'renewed' ? await readLogin(lane, config, environment) : null;
      one.standing = standingAfter(came, { login, renewed, before, now });
      log.info(
        { lane: lane.id, came: came.kind, ...('why' in came ? { why: came.why } : {}) },
        'the renewal of the login is over',
      );
      one.repair = null;
      one.looked = Number.NEGATIVE_INFINITY;
      await look(lane);
    };
    one.repair = done();
  }

  return {
    login: (lane) => readLogin(lane, config, environment),
    hold: look,
    lastHold(lane) {
      const path = loginPath(lane, config);
      return lane.kind !== 'claude' || path === null ? null : (watched.get(path)?.hold ?? null);
    },
    refused(lane, stamp) {
      const path = loginPath(lane, config);
      if (path === null) return;
      const one = of(path);
      one.refused = stamp;
      one.looked = Number.NEGATIVE_INFINITY;
    },
    async settled() {
      await Promise.all([...watched.values()].flatMap(({ repair: under }) => (under === null ? [] : [under])));
    },
  };
}

type Renewal = {
  /** What was to be renewed. */
  login: Extract<Login, { kind: 'file' }>;
  /** The login that a successful renewal left. */
  renewed: Login | null;
  before: Standing;
  now: number;
};

function standingAfter(came: Repair, { login, renewed, before, now }: Renewal): Standing {
  switch (came.kind) {
    case 'renewed':
      // A vendor whose tokens live for minutes must not be asked for new ones without end.
      return renewed?.kind === 'file' && isLapsing(renewed, null, now)
        ? { kind: 'unrenewed', stamp: renewed.stamp, again: now + LEAST_MS }
        : { kind: 'fine' };
    case 'unrenewed':
      return unrenewed(login.stamp, login.expiresAt, now);
    case 'failed':
      return lapsed(login.stamp, `the login has lapsed and could not be renewed: ${came.why}`, before, now);
  }
}
