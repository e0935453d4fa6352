import { setTimeout as delay } from 'node:timers/promises';
import { errorBody, type ErrorBody } from '#contract';
import { readLock, take, type HeldLock } from '#runner/lock-file';
import { identityOf, isAlive } from '#runner/process-identity';
import type { Log } from '#api';
import { ask } from './ask.js';
import { askToLeave } from './ask-to-leave.js';
import { mendAppendOnly } from './mend-append-only.js';
import type { PrivateRedis, RedisPatience, RedisPlace } from './place.js';
import { answersWithin, probe, serverPid } from './probe.js';
import { serversOnFolder } from './servers-on-folder.js';
import { startServer, type ServerStart } from './start-server.js';

/**
 * The one Redis of a state folder. Two servers on one folder write one append-only file, and a second takes the socket
 * from the first, so a missing socket proves nothing:
 *
 *   connect ─answers─▶ use it
 *      └─ no ─▶ redis.lock ─ taken by a living starter ─▶ wait, connect again
 *                  │        └ owned by a living server ─▶ answers at last? use it : TERM, its exit awaited, again
 *                  └ ours ─▶ connect once more ─▶ a server on this folder (/proc)? use it, or TERM and await its exit
 *                                                   └ none ─▶ start one; the lock becomes the server's own
 */
export type RedisOptions = {
  place: RedisPlace;
  /** redis-server or valkey-server; null: none on PATH. */
  program: string | null;
  env: Record<string, string>;
  patience: RedisPatience;
  log: Log;
};

export type RedisFound = { ok: true; redis: PrivateRedis } | { ok: false; error: ErrorBody };

/** A starter that holds the lock may be waiting for a large file to load. */
const STARTER_SLACK_MS = 10_000;

export async function ensurePrivateRedis(options: RedisOptions): Promise<RedisFound> {
  const { place, patience, log } = options;
  const until = performance.now() + patience.loadingMs + patience.leaveMs + STARTER_SLACK_MS;
  for (;;) {
    const running = await connected(place, patience);
    if (running) return running;
    const lock = await take(place.lock, { role: 'starter' });
    if (lock.taken) {
      try {
        return await underLock(options, lock);
      } finally {
        // Harmless when it belongs to the server by now.
        await lock.release();
      }
    }
    const { identity, fields } = lock.owner;
    if (lock.alive && identity && fields['role'] === 'server') {
      log.warn({ pid: identity.pid }, 'the private Redis lives but answers on no socket: it is asked to leave');
      const left = await askToLeave(identity, null, patience.leaveMs);
      if (!left) return stuck(identity.pid, place);
    } else if (performance.now() > until) {
      return {
        ok: false,
        error: errorBody('CMO_E_REDIS', 'another process has been starting Redis for too long', {
          details: [`pid ${identity?.pid ?? 'unknown'}, named in ${place.lock}`],
        }),
      };
    } else {
      await delay(50);
    }
  }
}

/**
 * The server that the lock names, by the socket it was given; else whatever answers at our socket. Null: nothing does.
 */
async function connected(place: RedisPlace, patience: RedisPatience): Promise<RedisFound | null> {
  const owner = await readLock(place.lock);
  const named = owner?.fields['socket'];
  const server =
    owner?.identity && owner.fields['role'] === 'server' && isAlive(owner.identity) ? owner.identity : null;
  const socket = server && typeof named === 'string' ? named : place.socket;
  // A living server that the lock names gets time; for a socket without a known owner one look is enough.
  const answers = server
    ? await answersWithin(socket, {
        quietMs: patience.quietMs,
        loadingMs: patience.loadingMs,
        over: () => !isAlive(server),
      })
    : (await probe(socket)) === 'answers';
  if (!answers) return null;
  if (server) return { ok: true, redis: { socket, pid: server.pid, started: false } };
  // It answers, but the lock doesn't name it: that is mended under the lock.
  return null;
}

async function underLock({ place, program, env, patience, log }: RedisOptions, lock: HeldLock): Promise<RedisFound> {
  const found = await adopted(place, patience, lock, log);
  if (found) return found;
  if (program === null) return { ok: false, error: errorBody('CMO_E_REDIS_MISSING') };
  const start = await startMended(program, place, env, patience, log);
  if (!start.ok) return start;
  const identity = identityOf(start.pid);
  if (!identity || !(await lock.update({ role: 'server', socket: place.socket }, identity))) {
    if (identity) await askToLeave(identity, place.socket, patience.leaveMs);
    return {
      ok: false,
      error: errorBody('CMO_E_REDIS', 'the private Redis left as soon as it was started', {
        details: [`its log is ${place.log}`],
      }),
    };
  }
  // A file that was torn in a power cut may end inside a script; a rewrite drops that end before more is written behind
  // it.
  await ask(place.socket, ['BGREWRITEAOF']);
  log.info({ redisPid: start.pid }, 'private Redis started');
  return { ok: true, redis: { socket: place.socket, pid: start.pid, started: true } };
}

/** Each of the two may come once; more of them is another damage. */
const MOST_MENDS = 2;

/**
 * A server that refuses its file for a hole in it gets the file without the hole. One that refuses a torn file because
 * others follow it (it was killed while it rewrote what a power cut had torn) has cut it itself by then.
 */
async function startMended(
  program: string,
  place: RedisPlace,
  env: Record<string, string>,
  patience: RedisPatience,
  log: Log,
): Promise<ServerStart> {
  for (let mends = 0; ; mends += 1) {
    const start = await startServer(program, place, env, patience);
    if (start.ok || mends === MOST_MENDS) return start;
    const says = (words: string): boolean => start.error.details?.some((line) => line.includes(words)) === true;
    if (says('the truncated file is not the last file')) {
      log.warn({}, 'Redis has cut half a script off its append-only file, and left for it: it is started again');
      continue;
    }
    if (!says('Bad file format reading the append only file')) return start;
    const mended = await mendAppendOnly(place.folder, Date.now());
    if (mended.length === 0) return start;
    log.warn(
      { mended },
      'a full disk or a power cut had left holes in the append-only file of Redis: they were taken out, and the file is kept as it was',
    );
  }
}

/** A server of this folder that the lock did not name: its starter died in between, or the lock was removed by hand. */
async function adopted(
  place: RedisPlace,
  patience: RedisPatience,
  lock: HeldLock,
  log: Log,
): Promise<RedisFound | null> {
  const servers = serversOnFolder(place.folder)
    .map(identityOf)
    .filter((identity) => identity !== null);
  const someLive = (): boolean => servers.some((server) => isAlive(server));
  const quietMs = servers.length > 0 ? patience.quietMs : 0;
  const answers = await answersWithin(place.socket, {
    quietMs,
    loadingMs: patience.loadingMs,
    over: () => servers.length > 0 && !someLive(),
  });
  const pid = answers ? await serverPid(place.socket) : null;
  // Without /proc nothing can be said about the folder of a server; the socket in our own folder has to do.
  const answering =
    pid !== null && process.platform !== 'linux'
      ? identityOf(pid)
      : (servers.find((server) => server.pid === pid) ?? null);
  if (answers && !answering) return foreign(pid, place);

  for (const server of servers) {
    if (server.pid === answering?.pid || !isAlive(server)) continue;
    log.warn({ redisPid: server.pid }, 'a Redis on our folder answers on no socket: it is asked to leave');
    if (!(await askToLeave(server, null, patience.leaveMs))) return stuck(server.pid, place);
  }
  if (!answering) return null;
  await lock.update({ role: 'server', socket: place.socket }, answering);
  log.info({ redisPid: answering.pid }, 'private Redis found running');
  return { ok: true, redis: { socket: place.socket, pid: answering.pid, started: false } };
}

function foreign(pid: number | null, place: RedisPlace): RedisFound {
  const details = [
    `pid ${pid ?? 'unknown'} answers on ${place.socket}, and it does not keep its data in ${place.folder}`,
  ];
  return {
    ok: false,
    error: errorBody('CMO_E_REDIS', 'a foreign Redis has taken our socket', {
      details,
      fix: 'stop it; cmo then starts its own',
    }),
  };
}

function stuck(pid: number, place: RedisPlace): RedisFound {
  const details = [`pid ${pid} works on ${place.folder}, answers on no socket, and did not leave on SIGTERM`];
  return {
    ok: false,
    error: errorBody('CMO_E_REDIS', 'an old Redis is in the way', {
      details,
      fix: `end it (kill ${pid}), then try again; a second one beside it would spoil its data`,
    }),
  };
}

/** Ends the server of this folder in order and takes its lock away. True when none is left. */
export async function stopPrivateRedis(place: RedisPlace, patience: RedisPatience): Promise<boolean> {
  const owner = await readLock(place.lock);
  const named = owner?.identity && owner.fields['role'] === 'server' ? owner.identity : null;
  if (named && isAlive(named)) {
    const socket = owner?.fields['socket'];
    if (!(await askToLeave(named, typeof socket === 'string' ? socket : place.socket, patience.leaveMs))) return false;
  }
  for (const pid of serversOnFolder(place.folder)) {
    const server = identityOf(pid);
    if (server && !(await askToLeave(server, place.socket, patience.leaveMs))) return false;
  }
  if (!owner) return true;
  const lock = await take(place.lock, { role: 'starter' });
  if (lock.taken) await lock.release();
  return lock.taken;
}
