import type { Login } from './login.js';
import { AHEAD_MS } from './token-repair.js';

/**
 * What is to be done about a claude login (pure).
 *
 *   fine ──within five minutes of its end, or refused by the vendor──▶ repairing (starts wait)
 *    ▲                                                                  ├──the file holds a new token──▶ fine
 *    │                                                                  ├──answered, file as before──▶ unrenewed (starts go on)
 *    └──the file changes────────────────────────────────────────────────┴──failed, or could not run──▶ lapsed
 *   lapsed: starts wait, or their work goes elsewhere; tried again after 1, 2, 4 … 30 minutes, or when the file changes.
 *   A file without a token is lapsed at once: no turn could repair it.
 */
export type Standing =
  | { kind: 'fine' }
  | { kind: 'repairing'; stamp: string }
  | { kind: 'unrenewed'; stamp: string; again: number }
  | { kind: 'lapsed'; stamp: string; why: string; again: number; failures: number };

const MOST_MS = 30 * 60_000;

/** @param refused the state of the login that the vendor called expired, whatever its file says; null: none */
export function isLapsing(login: Login, refused: string | null, now: number): boolean {
  return (
    login.kind === 'file' &&
    (login.stamp === refused || (login.expiresAt !== null && login.expiresAt <= now + AHEAD_MS))
  );
}

export type Verdict =
  { do: 'start' } | { do: 'wait'; repair: boolean; why: string } | { do: 'shut'; why: string; again: number | null };

export function verdictOf(login: Login, standing: Standing, refused: string | null, now: number): Verdict {
  if (login.kind === 'blank')
    return {
      do: 'shut',
      why: `the login file ${login.path} holds no token: log in again with \`claude\``,
      again: null,
    };
  if (login.kind !== 'file') return { do: 'start' };
  if (standing.kind === 'repairing') return { do: 'wait', repair: false, why: 'the claude login is being renewed' };
  if (!isLapsing(login, refused, now)) return { do: 'start' };
  const same = standing.kind !== 'fine' && standing.stamp === login.stamp;
  if (same && standing.kind === 'unrenewed' && now < standing.again) return { do: 'start' };
  if (same && standing.kind === 'lapsed' && now < standing.again)
    return { do: 'shut', why: standing.why, again: standing.again };
  return { do: 'wait', repair: true, why: 'the claude login is about to lapse and is being renewed' };
}

/** When a login that works but was not renewed is looked at again: at its end, or in ten minutes. */
export function unrenewed(stamp: string, expiresAt: number | null, now: number): Standing {
  const end = expiresAt !== null && expiresAt > now ? expiresAt : Number.POSITIVE_INFINITY;
  return { kind: 'unrenewed', stamp, again: Math.min(end, now + 10 * 60_000) };
}

export function lapsed(stamp: string, why: string, before: Standing, now: number): Standing {
  const failures = before.kind === 'lapsed' ? before.failures + 1 : 1;
  return { kind: 'lapsed', stamp, why, failures, again: now + Math.min(MOST_MS, 60_000 * 2 ** (failures - 1)) };
}
