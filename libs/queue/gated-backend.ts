import { setTimeout as pause } from 'node:timers/promises';
import { createRedisBackend, type BackendFactory, type RedisQueueBackend } from 'bullmq';

/**
 * The wrapped BullMQ backend: a worker cannot fetch until the gate says yes.
 *
 *   open ──fetch asked──▶ admission asked ──yes──▶ fetch ──empty──▶ given back; BullMQ sleeps on its own marker
 *                              │                     └──ticket──▶ the processor
 *                              └──no──▶ shut: nothing is sent until a wake, or `ms` ──▶ open
 *
 * The two sleeps never mix: a refused worker sleeps on the gate, an admitted but empty one on BullMQ's marker. Pinned
 * to bullmq 6.7.0 by test/libs/queue/gated-backend.test.ts: it leans on the main loop calling `waitForJob` after an
 * empty `moveToActive`, and on `disconnectBlocking` coming before the loop's end on close.
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
/** What a worker that closes still waits for an answer of Redis, ms: long if it is there, short if it is away. */
const LAST_ANSWER_MS = 1_000;
/** A marker with a score so far away that the loop fetches nothing more. */
const LEAVE = { member: '', score: Number.MAX_SAFE_INTEGER };

export function gatedBackend(door: Doorkeeper): BackendFactory<RedisQueueBackend> {
  return (name, options, context) => {
    const backend = createRedisBackend(name, options, context);
    const fetchNext = backend.moveToActive.bind(backend);
    const waitOnMarker = backend.waitForJob.bind(backend);
    const completed = backend.moveToCompleted.bind(backend);
    const failed = backend.moveToFailed.bind(backend);
    const disconnect = backend.disconnectBlocking.bind(backend);
    const reconnect = backend.reconnectBlocking.bind(backend);
    const close = backend.close.bind(backend);
    let closing = new AbortController();
    let shut: ((signal: AbortSignal) => Promise<void>) | null = null;

    /** What was asked, or null when a close was asked for and the answer is still not there: Redis is away. */
    const unlessLeft = async <T>(asked: Promise<T>, late: (answer: T) => unknown = () => {}): Promise<T | null> => {
      const left = closed(closing.signal, LAST_ANSWER_MS);
      const answer = await Promise.race([asked, left.promise]).finally(left.forget);
      if (answer === null) asked.then(late).catch(() => {});
      return answer;
    };

    const fetchAdmitted = async (token: string, workerName?: string): ReturnType<typeof fetchNext> => {
      const admission = await unlessLeft(door.admit(token), (answer) => answer.ok && door.giveBack(token));
      if (!admission) return NOTHING;
      if (!admission.ok) {
        shut = admission.sleep;
        return NOTHING;
      }
      shut = null;
      let found = false;
      try {
        if (closing.signal.aborted) return NOTHING;
        const answer = await unlessLeft(fetchNext(token, workerName));
        found = Boolean(answer?.[0]);
        // BullMQ's own answer is passed on unchanged: its fourth member sets the sleep until the next delayed ticket.
        return answer ?? NOTHING;
      } finally {
        if (!found) await unlessLeft(door.giveBack(token));
      }
    };

    backend.moveToActive = async (token, workerName) => {
      if (closing.signal.aborted) return NOTHING;
      try {
        return await fetchAdmitted(token, workerName);
      } catch (error) {
        // BullMQ asks again at once after any error but a lost connection: a full Redis would be asked without end, and
        // an error thrown before anything is awaited would stop the whole process.
        await pause(AFTER_ERROR_MS, undefined, { signal: closing.signal }).catch(() => {});
        throw error;
      }
    };

    backend.waitForJob = async (blockTimeout) => {
      if (closing.signal.aborted) return LEAVE;
      const sleep = shut;
      if (sleep) {
        await sleep(closing.signal);
        shut = null;
        return closing.signal.aborted ? LEAVE : null;
      }
      const left = closed(closing.signal, 0);
      const marker = await Promise.race([waitOnMarker(blockTimeout), left.promise]).finally(left.forget);
      return closing.signal.aborted ? LEAVE : marker;
    };

    // Fetching the next job in the same step as a finish would pass the gate by.
    backend.moveToCompleted = (job, value, remove, token) => completed(job, value, remove, token, false);
    backend.moveToFailed = (job, reason, remove, token, _fetchNext, fields) =>
      failed(job, reason, remove, token, false, fields);

    // Not `close`: the worker waits for its main loop before it closes the backend (4.3 s while shut, measured).
    backend.disconnectBlocking = async (wait = true) => {
      closing.abort();
      const client = await backend.blockingClient;
      // ioredis never says `end` of a connection that is disconnected between two tries to reconnect.
      await disconnect(wait && client?.status !== 'reconnecting');
    };
    // Nor does such a connection ever answer the `quit` of a close in order; nothing is in flight on it.
    backend.close = () => close(true);
    // A worker that was paused comes back by this; one that closes never calls it.
    backend.reconnectBlocking = () => {
      if (closing.signal.aborted) closing = new AbortController();
      return reconnect();
    };
    return backend;
  };
}

/** Settles with null `after` ms once the signal is aborted; `forget` takes the listener and the timer back. */
function closed(signal: AbortSignal, after: number): { promise: Promise<null>; forget: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let settle = (): void => {};
  const promise = new Promise<null>((resolve) => {
    settle = () => {
      timer = setTimeout(() => resolve(null), after);
    };
  });
  if (signal.aborted) settle();
  else signal.addEventListener('abort', settle);
  return {
    promise,
    forget() {
      clearTimeout(timer);
      signal.removeEventListener('abort', settle);
    },
  };
}
