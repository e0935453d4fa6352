import { access, constants, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { take, type HeldLock } from '#runner/lock-file';
import { readLoginFile, type Login } from './login.js';
import type { RepairTurn } from './repair-turn.js';

/**
 * The real claude counts a token as lapsed this long before its end [read in 2.1.332], and renews it then. Agents that
 * start from here on would each renew it; one small turn does it for all of them.
 */
export const AHEAD_MS = 5 * 60_000;
/** At most one turn in this time on this machine, whatever comes of it. */
export const LEAST_MS = 60_000;
const LOOK_MS = 100;

export type Repair =
  /** The login file holds another token now, whichever process renewed it. */
  | { kind: 'renewed' }
  /** The turn was answered with the login as it was: it works, and was not renewed. */
  | { kind: 'unrenewed' }
  | { kind: 'failed'; why: string };

export type RepairParts = {
  clock: () => number;
  turn: () => Promise<RepairTurn>;
  /** Given the turn's quota readings: they cost nothing more. */
  events?: (events: unknown[]) => void;
  /** How long another repairer on this machine is waited for, ms. */
  patienceMs?: number;
  leastMs?: number;
};

/**
 * Has a login renewed by the vendor's own CLI, once for all processes of this machine: with a single-use refresh token
 * the second of two renewers logs everybody out. The lock lies beside the login, since that is what there is one of;
 * the CLI itself must be able to write there, so who can't has the reason.
 *
 *   ──lock free──▶ look again ──renewed meanwhile──▶ done
 *        │              └──as it was──▶ one turn ──▶ look again ──renewed──▶ lock free, done
 *        │                                                └──not──▶ the lock is kept for the rest of the minute
 *        └──held──▶ wait for the file to change, or the lock to become free
 *
 * @param stamp the state of the login that is lapsed
 */
export async function repairLogin(path: string, stamp: string, parts: RepairParts): Promise<Repair> {
  const { clock, patienceMs = 120_000 } = parts;
  const until = clock() + patienceMs;
  const folder = await realFolder(path);
  if (folder === null)
    return { kind: 'failed', why: `${dirname(path)} cannot be written, so the CLI cannot renew the login in it` };
  for (;;) {
    const lock = await take(join(folder, 'cmo-repair.lock'), { for: 'renewing the claude login' });
    if (lock.taken) return repairUnderLock(path, stamp, lock, parts);
    if (await isRenewed(path, stamp, clock())) return { kind: 'renewed' };
    if (clock() > until)
      return {
        kind: 'failed',
        why: `process ${lock.owner.identity?.pid ?? 'unknown'} has been renewing it for too long`,
      };
    await delay(LOOK_MS);
  }
}

async function repairUnderLock(
  path: string,
  stamp: string,
  lock: HeldLock,
  { clock, turn, events, leastMs = LEAST_MS }: RepairParts,
): Promise<Repair> {
  const began = clock();
  if (await isRenewed(path, stamp, began)) {
    await lock.release();
    return { kind: 'renewed' };
  }
  const came = await turn();
  if (came.ran) events?.(came.events);
  if (await isRenewed(path, stamp, clock())) {
    await lock.release();
    return { kind: 'renewed' };
  }
  // Kept, not released: who comes meanwhile waits. A process that ends gives it back by ending.
  setTimeout(() => void lock.release().catch(() => undefined), Math.max(0, leastMs - (clock() - began))).unref();
  if (!came.ran) return { kind: 'failed', why: came.why };
  return came.ok ? { kind: 'unrenewed' } : { kind: 'failed', why: came.why };
}

/** Another state of the file than the lapsed one, with a token that has some time left. */
async function isRenewed(path: string, stamp: string, now: number): Promise<boolean> {
  const login: Login = await readLoginFile(path);
  return login.kind === 'file' && login.stamp !== stamp && (login.expiresAt === null || login.expiresAt > now);
}

async function realFolder(path: string): Promise<string | null> {
  try {
    const folder = dirname(await realpath(path));
    await access(folder, constants.W_OK);
    return folder;
  } catch {
    return null;
  }
}
