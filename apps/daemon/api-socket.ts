import { chmodSync, statSync, unlinkSync, watch, type FSWatcher } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { makeOwnFolder } from '#config';

/**
 * The unix socket (0600) in front of the HTTP server. It is kept apart from that server because a socket file that was
 * removed by hand must come back without a restart: the old listener is dropped and a new one made on the same path,
 * while connections that are open go on.
 *
 *   closed ──open──▶ listening ──(file gone)──▶ listening again ──pause──▶ paused ──open──▶ listening
 *                        └───────────close────────────────────────────────────┴──────────▶ closed
 *
 * Only the holder of daemon.lock may call it: opening removes whatever lies at the path, and closing a listener removes
 * the file of that name.
 */
export type ApiSocket = {
  open(): Promise<void>;
  /** Takes no new connection; those that are open go on. The file is gone. */
  pause(): Promise<void>;
  /** As pause, then ends what is still open. */
  close(): Promise<void>;
};

/** A watcher can miss things (other file systems, a folder that was moved away and back); this can't. */
const LOOK_MS = 2_000;

export function apiSocket(path: string, http: HttpServer, onReopened: (error: Error | null) => void): ApiSocket {
  const connections = new Set<Socket>();
  let wanted = false;
  let server: Server | null = null;
  let inode: bigint | null = null;
  let watcher: FSWatcher | null = null;
  let timer: NodeJS.Timeout | null = null;
  let reopening = false;

  async function listen(): Promise<void> {
    const problem = makeOwnFolder(dirname(path));
    if (problem !== null) throw new Error(`${dirname(path)}: ${problem}`);
    remove(path);
    const next = createServer((socket) => {
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
      http.emit('connection', socket);
    });
    await new Promise<void>((resolve, reject) => {
      next.once('error', reject);
      // A cold night starts 64 clients in the same instant.
      next.listen({ path, backlog: 1024 }, resolve);
    });
    next.on('error', () => undefined);
    chmodSync(path, 0o600);
    server = next;
    inode = inodeOf(path);
  }

  /** A listener's close is done with its file at once, and calls back only when its last connection has ended. */
  function drop(): void {
    server?.close();
    server = null;
  }

  function look(): void {
    if (!wanted || reopening || (server !== null && inodeOf(path) === inode)) return;
    reopening = true;
    drop();
    listen()
      .then(() => {
        // Paused meanwhile: the door stays shut.
        if (!wanted) return drop();
        watchFolder();
        onReopened(null);
      })
      .catch((error: unknown) => onReopened(error as Error))
      .finally(() => (reopening = false));
  }

  function unwatch(): void {
    watcher?.close();
    watcher = null;
    if (timer) clearInterval(timer);
    timer = null;
  }

  function watchFolder(): void {
    watcher?.close();
    try {
      watcher = watch(dirname(path), { persistent: false }, look);
      watcher.on('error', () => undefined);
    } catch {
      // The timer looks too.
    }
  }

  async function pause(): Promise<void> {
    wanted = false;
    unwatch();
    drop();
    await Promise.resolve();
  }

  return {
    async open() {
      wanted = true;
      await listen();
      timer = setInterval(look, LOOK_MS);
      timer.unref();
      watchFolder();
    },
    pause,
    async close() {
      await pause();
      for (const socket of connections) socket.destroy();
    },
  };
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function inodeOf(path: string): bigint | null {
  try {
    return statSync(path, { bigint: true }).ino;
  } catch {
    return null;
  }
}
