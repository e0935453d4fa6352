import type { Redis } from 'ioredis';
import { evaluateJson, gateKeys, keys } from '#store';
import type { CostVector, Overage, Pause, Reached, WindowKind } from '#contract';
import { controlOf } from './control.js';
import { operations } from './lua.js';

/** Percent of the window, 0..100, except times (ms since the epoch). */
export type WindowSnapshot = {
  id: string;
  kind: WindowKind;
  scope: string | null;
  usedPercent: number;
  reserved: number;
  settling: number;
  estimated: number;
  /** used + reserved + settling + estimated: what the decision sees. */
  effective: number;
  resetsAt: number | null;
};

export type AccountSnapshot = {
  account: string;
  /** Redis' time of this picture. */
  now: number;
  windows: WindowSnapshot[];
  inFlight: number;
  /** Nothing reserved and nothing settling (estimated points aside): only a reset can make room. */
  bare: boolean;
  /** `number` names this closing, for ever. */
  closed: { until: number; reason: string; number: number; canary: 'waiting' | 'flying' | null } | null;
  /** Of this account's lanes and of all others; those of `lane: null` shut every lane. */
  pauses: Pause[];
  reading: {
    source: string;
    writtenAt: number;
    readAt: number;
    plan: string | null;
    reached: Reached | null;
    overage: Overage | null;
  } | null;
  /** When the last run of ours ended (Redis' time), null when none did. */
  lastEnd: number | null;
  reservations: ReservationView[];
};

/** `lent`: its agent waits for one of its own, and its slot is another's. */
export type ReservationView = {
  id: string;
  state: 'token' | 'bound' | 'settling' | 'estimated';
  lent: boolean;
  lane: string;
  node: string;
  project: string;
  cost: CostVector;
};

type Raw = {
  now: number;
  meter: Record<string, string>;
  closed: Record<string, string>;
  flags: Record<string, string>;
  reservations: Record<string, string>;
  control: Record<string, string>;
};
type RawReservation = {
  st: ReservationView['state'];
  cost: CostVector;
  lane: string;
  node: string;
  project?: string;
  lent?: boolean;
};
type RawWindow = { used: number; resetsAt?: number; kind: WindowKind; scope?: string };

export async function readSnapshot(redis: Redis, account: string, wake: object): Promise<AccountSnapshot> {
  const raw = await evaluateJson<Raw>(redis, operations.snapshot, [...gateKeys(account), keys.control], wake);
  const { now, meter, flags } = raw;
  const reservations = Object.entries(raw.reservations).map(([id, text]) =>
    reservationOf(id, JSON.parse(text) as RawReservation),
  );
  const windows = JSON.parse(meter['windows'] ?? '{}') as Record<string, RawWindow>;
  return {
    account,
    now,
    windows: Object.entries(windows).map(([id, window]) => windowOf(id, window, reservations)),
    inFlight: reservations.filter(({ state, lent }) => (state === 'token' || state === 'bound') && !lent).length,
    bare: reservations.every(({ state }) => state === 'estimated'),
    closed: closedOf(raw.closed, now),
    pauses: controlOf(raw.control, now).pauses,
    reading: readingOf(meter),
    lastEnd: flags['ended'] === undefined ? null : Number(flags['ended']),
    reservations,
  };
}

function reservationOf(id: string, raw: RawReservation): ReservationView {
  const { st: state, cost, lane, node, project = '', lent = false } = raw;
  return { id, state, lent, lane, node, project, cost };
}

function windowOf(id: string, window: RawWindow, reservations: readonly ReservationView[]): WindowSnapshot {
  const points = (...states: ReservationView['state'][]): number =>
    reservations.filter(({ state }) => states.includes(state)).reduce((sum, { cost }) => sum + (cost[id] ?? 0), 0) /
    1000;
  const usedPercent = window.used / 1000;
  const reserved = points('token', 'bound');
  const settling = points('settling');
  const estimated = points('estimated');
  return {
    id,
    kind: window.kind,
    scope: window.scope ?? null,
    usedPercent,
    reserved,
    settling,
    estimated,
    effective: usedPercent + reserved + settling + estimated,
    resetsAt: window.resetsAt ?? null,
  };
}

function closedOf(closed: Record<string, string>, now: number): AccountSnapshot['closed'] {
  if (closed['til'] === undefined) return null;
  const until = Number(closed['til']);
  const canary = closed['holder'] ? 'flying' : 'waiting';
  return {
    until,
    reason: closed['reason'] ?? 'refused',
    number: Number(closed['number'] ?? 0),
    canary: until > now ? null : canary,
  };
}

function readingOf(meter: Record<string, string>): AccountSnapshot['reading'] {
  if (meter['at'] === undefined) return null;
  return {
    source: meter['source'] ?? '',
    writtenAt: Number(meter['at']),
    readAt: Number(meter['readAt']),
    plan: meter['plan'] ?? null,
    reached: reachedOf(meter['reached']),
    overage: meter['overage'] === undefined ? null : (JSON.parse(meter['overage']) as Overage),
  };
}

function reachedOf(text: string | undefined): Reached | null {
  if (text === undefined) return null;
  const { flag, resetsAt } = JSON.parse(text) as { flag: string; resetsAt?: number };
  return { flag, resetsAt: resetsAt ?? null };
}
