import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { DATA_OPTIONS } from '../../apps/daemon/redis/server-arguments.js';
import { onLeave } from './on-leave.js';
import { isAlive, signal, waitGone } from './processes.js';
import { removeFolder, tempFolder } from './temp.js';
import { waitUntil } from './wait-until.js';

/**
 * A Redis of the test's own, set as the private one of a daemon is: unix socket only, append-only file with fsync each
 * second, no eviction. Stopped, killed and started again on the same folder, so that a test can ask what survives.
 */
export type TestRedis = {
  folder: string;
  socket: string;
  /** Of the running server; throws when it is down. */
  pid(): number;
  /**
   * A new client on the socket that waits out a restart; disconnected with `close()`. For other options make your own.
   */
  client(): Redis;
  start(): Promise<void>;
  /** SIGTERM: the append-only file is closed in order. */
  stop(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  /** kill -9 and start on what the file holds. */
  restart(): Promise<void>;
  /** Clients, server, folder. */
  close(): Promise<void>;
};

export async function startRedis(options: { folder?: string; args?: string[] } = {}): Promise<TestRedis> {
  const folder = options.folder ?? tempFolder('redis');
  const socket = join(folder, 'r.sock');
  const clients: Redis[] = [];
  let server: ChildProcess | null = null;

  const pid = (): number => {
    if (server?.pid === undefined) throw new Error('this Redis is down');
    return server.pid;
  };
  const start = async (): Promise<void> => {
    if (server) throw new Error('this Redis is up');
    const [command, args] = commandLine(folder, socket, options.args ?? []);
    const child = spawn(command, args, { stdio: 'ignore' });
    server = child;
    child.once('exit', () => {
      if (server === child) server = null;
    });
    await waitUntil(
      () => {
        if (server !== child) throw new Error(`${command} left at once; its log is ${join(folder, 'redis.log')}`);
        return ping(socket);
      },
      { what: `Redis on ${socket} to answer` },
    );
  };
  const end = async (name: NodeJS.Signals): Promise<void> => {
    const child = server;
    if (child?.pid === undefined) return;
    server = null;
    signal(child.pid, name);
    await waitGone(child.pid);
  };
  onLeave(() => {
    if (server?.pid !== undefined && isAlive(server.pid)) signal(server.pid, 'SIGKILL');
  });
  await start();

  return {
    folder,
    socket,
    pid,
    start,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    restart: async () => {
      await end('SIGKILL');
      await start();
    },
    client: () => {
      const client = new Redis({ path: socket, maxRetriesPerRequest: null });
      // Without a listener a refused connection during a planned restart would end the test process.
      client.on('error', () => undefined);
      clients.push(client);
      return client;
    },
    close: async () => {
      for (const client of clients.splice(0)) client.disconnect();
      await end('SIGKILL');
      if (options.folder === undefined && process.env['CMO_TEST_KEEP'] !== '1') removeFolder(folder);
    },
  };
}

/** Under setpriv, so that a test process that is itself killed by SIGKILL leaves no server behind. */
function commandLine(folder: string, socket: string, more: string[]): [string, string[]] {
  const server = redisServer();
  const place = ['--port', '0', '--unixsocket', socket, '--unixsocketperm', '700', '--dir', folder];
  // Its data as in the private server of a daemon.
  const args = [...place, '--logfile', join(folder, 'redis.log'), ...DATA_OPTIONS.flat(), ...more];
  return onPath('setpriv') ? ['setpriv', ['--pdeathsig', 'KILL', server, ...args]] : [server, args];
}

let found: string | undefined;
function redisServer(): string {
  found ??= ['redis-server', 'valkey-server'].find(onPath);
  if (found === undefined) throw new Error('neither redis-server nor valkey-server is on PATH: `npm test` installs it');
  return found;
}

function onPath(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).error === undefined;
}

function ping(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection(socket);
    const answer = (alive: boolean): void => {
      connection.destroy();
      resolve(alive);
    };
    connection.once('error', () => answer(false));
    connection.once('connect', () => connection.write('PING\r\n'));
    connection.once('data', (bytes) => answer(bytes.toString().startsWith('+PONG')));
  });
}
