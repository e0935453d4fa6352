import { readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { errorBody, type ErrorBody } from '#contract';
import { isAlive, ownIdentity, type ProcessIdentity } from '#runner/process-identity';
import { evaluateJson, keys, script } from '#store';
import type { Redis } from 'ioredis';
import leaseText from './lua/node-lease.lua';

/**
 * One node id, one worker. The lease is for economy (two workers of one node repeat each other's deliveries and double
 * its run limit); at-most-once does not hang on it.
 *
 *   take ─▶ held ──renew (every renewMs)──▶ held
 *     │       ├──(Redis was away, or forgot)──▶ held again, if nobody else took it
 *     │       └──(somebody else holds it)──▶ lost: the daemon hands over
 *     ├─ owner of this boot, dead ──▶ replaced at once
 *     ├─ owner of this boot, alive ──▶ taken
 *     └─ any other owner ──▶ waited for: lapses ──▶ take; renewed meanwhile ──▶ taken
 */
export type NodeLease = {
  release(): Promise<void>;
};

type Holder = ProcessIdentity & {
  /**
   * Of this start, so that a lease can be told from that of an earlier process with the same pid and ticks on another
   * box.
   */
  nonce: string;
  stateDir: string;
  /** The pid namespace: containers of one kernel share its boot id but not their pids. */
  space: string;
};

export type LeaseOptions = {
  redis: Redis;
  node: string;
  stateDir: string;
  leaseMs: number;
  renewMs: number;
  nonce: string;
  /** Somebody else holds it now. */
  onLost(holder: string): void;
};

type Reply = { held: boolean; holder: string; leftMs: number };

const operation = script('node-lease', leaseText);

export async function takeNodeLease(
  options: LeaseOptions,
): Promise<{ ok: true; lease: NodeLease } | { ok: false; error: ErrorBody }> {
  const { redis, node, stateDir, leaseMs, renewMs, nonce } = options;
  const names = [keys.node(node)];
  const mine = JSON.stringify({ ...ownIdentity(), nonce, stateDir, space: pidSpace() } satisfies Holder);
  const run = (op: 'take' | 'renew' | 'drop', instead: string | null = null): Promise<Reply> =>
    evaluateJson<Reply>(redis, operation, names, { op, mine, instead: instead ?? '', ttl: leaseMs });

  let seen: Reply | null = null;
  for (;;) {
    const reply: Reply = await run('take');
    if (reply.held) break;
    const holder = parseHolder(reply.holder);
    if (holder && isOfThisBoot(holder)) {
      if (isAlive(holder)) return taken(node, holder);
      if ((await run('take', reply.holder)).held) break;
      continue;
    }
    // Another box, or this one before it was rebooted: only its lease can say whether it lives.
    if (seen && (seen.holder !== reply.holder || reply.leftMs > seen.leftMs)) return taken(node, holder);
    seen = reply;
    await delay(Math.min(Math.max(reply.leftMs, 20), Math.max(renewMs / 2, 20)));
  }

  let busy = false;
  const timer = setInterval(() => {
    // While Redis is away a renewal hangs: they must not pile up.
    if (busy) return;
    busy = true;
    run('renew')
      .then((reply) => {
        if (reply.held) return;
        clearInterval(timer);
        options.onLost(reply.holder);
      })
      .catch(() => undefined)
      .finally(() => (busy = false));
  }, renewMs);
  timer.unref();
  return {
    ok: true,
    lease: {
      async release() {
        clearInterval(timer);
        await run('drop');
      },
    },
  };
}

function isOfThisBoot(holder: Holder): boolean {
  return holder.bootId === ownIdentity().bootId && holder.space === pidSpace();
}

function pidSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function parseHolder(text: string): Holder | null {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return null;
  }
}

function taken(node: string, holder: Holder | null): { ok: false; error: ErrorBody } {
  const who = holder ? `pid ${holder.pid}, state folder ${holder.stateDir}` : 'of an unknown version';
  return { ok: false, error: errorBody('CMO_E_NODE_TAKEN', `another worker runs as node "${node}" (${who})`) };
}
