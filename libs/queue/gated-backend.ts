import { setTimeout as pause } from 'node:timers/promises';
import { createRedisBackend, type BackendFactory, type RedisQueueBackend } from 'bullmq';

/**
 * The wrapped BullMQ backend: a worker cannot fetch until the gate says yes.
 *
 *   open ──fetch asked──▶ admission asked ──yes──▶ fetch ──empty──▶ given back; BullMQ sleeps on its own marker
 *                              │                     └──ticket──▶ the processor
 *                              └──no──▶ shut: nothing is sent until a wake, or `ms` ──▶ open
 *
 * The two sleeps never mix: a refused worker sleeps on the gate, an admitted but empty one on BullMQ's marker.
 * Pinned to bullmq 6.7.0 by test/libs/queue/gated-backend.test.ts: it leans on the main loop calling `waitForJob`
 * after an empty `moveToActive`, and on `disconnectBlocking` coming before the loop's end on close.
 */
export interface Doorkeeper {
  /** Asks for a place under this token. `shut`: how to sleep until asking again may help. */
  admit(token: string): Promise<{ ok: true } | { ok: false; sleep: (signal: AbortSignal) => Promise<void> }>;
  /** The fetch found nothing, or failed: the place is free again. */
  giveBack(token: string): Promise<void>;
}

/** What BullMQ reads as "no job": [job data, id, rate limit delay, time of the next delayed job]. */
const NOTHING: [] = [];
/** How long a worker is deaf after its admission or its fetch failed, ms. */
const AFTER_ERROR_MS = 500;
/** A marker score so far away that the loop fetches nothing more. */
const NEVER = Number.MAX_SAFE_INTEGER;

export function gatedBackend(door: Doorkeeper): BackendFactory<RedisQueueBackend> {
  return (name, options, context) => {
    const backend = createRedisBackend(name, options, context);
    const fetchNext = backend.moveToActive.bind(backend);
    const waitOnMarker = backend.waitForJob.bind(backend);
    const completed = backend.moveToCompleted.bind(backend);
    const failed = backend.moveToFailed.bind(backend);
    const disconnect = backend.disconnectBlocking.bind(backend);
    const reconnect = backend.reconnectBlocking.bind(backend);
    let closing = new AbortController();
    let shut: ((signal: AbortSignal) => Promise<void>) | null = null;

    const fetchAdmitted = async (token: string, workerName?: string): ReturnType<typeof fetchNext> => {
      const admission = await door.admit(token);
      if (!admission.ok) {
        shut = admission.sleep;
        return NOTHING;
      }
      shut = null;
      let found = false;
      try {
        if (closing.signal.aborted) return NOTHING;
        const answer = await fetchNext(token, workerName);
        found = Boolean(answer[0]);
        // BullMQ's own answer is passed on unchanged: its fourth member sets the sleep until the next delayed ticket.
        return answer;
      } finally {
        if (!found) await door.giveBack(token);
      }
    };

    backend.moveToActive = async (token, workerName) => {
      if (closing.signal.aborted) return NOTHING;
      try {
        return await fetchAdmitted(token, workerName);
      } catch (error) {
        // BullMQ asks again at once after any error but a lost connection: a full Redis would be asked without end, and an
        // error thrown before anything is awaited would stop the whole process.
        await pause(AFTER_ERROR_MS, undefined, { signal: closing.signal }).catch(() => {});
        throw error;
      }
    };

    backend.waitForJob = async (blockTimeout) => {
      if (closing.signal.aborted) return { member: '', score: NEVER };
      if (!shut) return waitOnMarker(blockTimeout);
      const sleep = shut;
      await sleep(closing.signal);
      shut = null;
      return closing.signal.aborted ? { member: '', score: NEVER } : null;
    };

    // Fetching the next job in the same step as a finish would pass the gate by.
    backend.moveToCompleted = (job, value, remove, token) => completed(job, value, remove, token, false);
    backend.moveToFailed = (job, reason, remove, token, _fetchNext, fields) => failed(job, reason, remove, token, false, fields);

    // Not `close`: the worker waits for its main loop before it closes the backend (4.3 s while shut, measured).
    backend.disconnectBlocking = (wait) => {
      closing.abort();
      return disconnect(wait);
    };
    // A worker that was paused comes back by this; one that closes never calls it.
    backend.reconnectBlocking = () => {
      if (closing.signal.aborted) closing = new AbortController();
      return reconnect();
    };
    return backend;
  };
}
