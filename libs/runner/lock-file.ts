import { createHash, randomUUID } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readIfThere, syncFolder, writeFirst, writeWhole } from './durable-file.js';
import { isAlive, ownIdentity, type ProcessIdentity } from './process-identity.js';

/**
 * A file that says which process owns a thing (the daemon's place, the right to start Redis). No clock, no lease: the
 * owner is a process, and it owns as long as it lives.
 *
 *   free ──take──► owned ──release──► free
 *                    │ owner dies
 *                    ▼
 *                abandoned ──take──► owned (by exactly one of several takers)
 *
 * An abandoned file must be replaced by one taker only, and a slow one must not replace the file of the quick one. So a
 * taker first takes a second lock that is named after the *content* of the abandoned file, looks again under it, and
 * only then renames its own file into place. A taker that dies while it holds that second lock abandons it, and the
 * same rule repairs that.
 */
export type LockFields = Record<string, string | number | boolean | null>;

export type LockOwner = { identity: ProcessIdentity | null; fields: LockFields };

export type HeldLock = {
  taken: true;
  /**
   * Other facts, and where given another owner: a started Redis goes on owning its folder when its starter leaves.
   * @returns false: the file was removed or taken by hand, nothing was changed
   */
  update(fields: LockFields, owner?: ProcessIdentity): Promise<boolean>;
  /** Harmless when it was handed to another owner, removed by hand or taken by someone since. */
  release(): Promise<void>;
};

export type RefusedLock = {
  taken: false;
  owner: LockOwner;
  /** False: the owner is dead, but a taker that is stopped in the middle of replacing its file is in the way. */
  alive: boolean;
};

export type LockOptions = { owner?: ProcessIdentity; isAlive?: (identity: ProcessIdentity) => boolean };

/**
 * Replacing an abandoned file takes milliseconds; a replacer that was stopped in the middle holds others up this long.
 */
const PATIENCE_MS = 5_000;

/** @param fields shown to a process that is refused: never a secret */
export async function take(
  path: string,
  fields: LockFields = {},
  options: LockOptions = {},
): Promise<HeldLock | RefusedLock> {
  const alive = options.isAlive ?? isAlive;
  const content = encode(options.owner ?? ownIdentity(), fields);
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    if (await writeFirst(path, content)) return held(path, content);
    const found = await readIfThere(path);
    if (found === null) continue;
    const owner = decode(found);
    if (owner.identity && alive(owner.identity)) return { taken: false, owner, alive: true };
    if (await replaceAbandoned(path, found, content, alive)) return held(path, content);
    if (performance.now() > until) return { taken: false, owner, alive: false };
    await delay(5);
  }
}

/** Null: there is none. The owner may be dead: see `isAlive`. */
export async function readLock(path: string): Promise<LockOwner | null> {
  const content = await readIfThere(path);
  return content === null ? null : decode(content);
}

/** @returns false: another taker is at it, or was quicker. */
async function replaceAbandoned(
  path: string,
  abandoned: string,
  content: string,
  alive: (identity: ProcessIdentity) => boolean,
): Promise<boolean> {
  const guard = await take(
    `${path}.${createHash('sha256').update(abandoned).digest('hex').slice(0, 16)}`,
    {},
    { isAlive: alive },
  );
  if (!guard.taken) return false;
  try {
    if ((await readIfThere(path)) !== abandoned) return false;
    await writeWhole(path, content);
    return true;
  } finally {
    await guard.release();
  }
}

function held(path: string, first: string): HeldLock {
  let content = first;
  return {
    taken: true,
    async update(fields, owner) {
      const next = encode(owner ?? ownIdentity(), fields);
      if ((await readIfThere(path)) !== content) return false;
      await writeWhole(path, next);
      content = next;
      return true;
    },
    async release() {
      const identity = decode(content).identity;
      const ours = ownIdentity();
      if (identity?.pid !== ours.pid || identity.ticks !== ours.ticks) return;
      if ((await readIfThere(path)) !== content) return;
      await unlink(path);
      await syncFolder(dirname(path));
    },
  };
}

/** The nonce makes each taking's content its own: the guard of an abandoned file is named after it. */
function encode(identity: ProcessIdentity, fields: LockFields): string {
  return `${JSON.stringify({ ...fields, pid: identity.pid, ticks: identity.ticks, bootId: identity.bootId, nonce: randomUUID() })}\n`;
}

/** A file that can't be read (a disk that lost it in a power cut) has no owner, and so no living one. */
function decode(content: string): LockOwner {
  try {
    const { pid, ticks, bootId, nonce: _, ...fields } = JSON.parse(content) as LockFields;
    if (typeof pid === 'number' && typeof ticks === 'number' && typeof bootId === 'string')
      return { identity: { pid, ticks, bootId }, fields };
  } catch {
    // Falls through: unreadable.
  }
  return { identity: null, fields: {} };
}
