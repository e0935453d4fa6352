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
  const reservations = Object.entries(raw.reservations).map(([id, text]): ReservationView => {
    const r = JSON.parse(text) as RawReservation;
    return {
      id,
      state: r.st,
      lent: r.lent ?? false,
      lane: r.lane,
      node: r.node,
      project: r.project ?? '',
      cost: r.cost,
    };
  });
  const windows = Object.entries(JSON.parse(raw.meter['windows'] ?? '{}') as Record<string, RawWindow>).map(
    ([id, w]): WindowSnapshot => {
      const points = (...states: ReservationView['state'][]): number =>
        reservations.filter((r) => states.includes(r.state)).reduce((sum, r) => sum + (r.cost[id] ?? 0), 0) / 1000;
      const [used, reserved, settling, estimated] = [
        w.used / 1000,
        points('token', 'bound'),
        points('settling'),
        points('estimated'),
      ];
      return {
        id,
        kind: w.kind,
        scope: w.scope ?? null,
        usedPercent: used,
        reserved,
        settling,
        estimated,
        effective: used + reserved + settling + estimated,
        resetsAt: w.resetsAt ?? null,
      };
    },
  );
  const inFlight = reservations.filter((r) => (r.state === 'token' || r.state === 'bound') && !r.lent).length;
  const until = raw.closed['til'];
  const number = (text: string | undefined): number | null => (text === undefined ? null : Number(text));
  return {
    account,
    now: raw.now,
    windows,
    inFlight,
    bare: reservations.every((r) => r.state === 'estimated'),
    closed:
      until === undefined
        ? null
        : {
            until: Number(until),
            reason: raw.closed['reason'] ?? 'refused',
            number: Number(raw.closed['number'] ?? 0),
            canary: Number(until) > raw.now ? null : raw.closed['holder'] ? 'flying' : 'waiting',
          },
    pauses: controlOf(raw.control, raw.now).pauses,
    reading:
      raw.meter['at'] === undefined
        ? null
        : {
            source: raw.meter['source'] ?? '',
            writtenAt: Number(raw.meter['at']),
            readAt: Number(raw.meter['readAt']),
            plan: raw.meter['plan'] ?? null,
            reached: reachedOf(raw.meter['reached']),
            overage: raw.meter['overage'] === undefined ? null : (JSON.parse(raw.meter['overage']) as Overage),
          },
    lastEnd: number(raw.flags['ended']),
    reservations,
  };
}

function reachedOf(text: string | undefined): Reached | null {
  if (text === undefined) return null;
  const { flag, resetsAt } = JSON.parse(text) as { flag: string; resetsAt?: number };
  return { flag, resetsAt: resetsAt ?? null };
}
