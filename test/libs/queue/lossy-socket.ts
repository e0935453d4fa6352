import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { tempFolder } from '../../support/temp.js';

/** A way to Redis that can lose an answer: Redis has executed the command, its client never hears of it. */
export type LossySocket = {
  path: string;
  /**
   * The next answer but `after` is not passed on; the connection breaks in its place. Resolves when that has happened.
   */
  loseAnswer(after?: number): Promise<void>;
  close(): Promise<void>;
};

export async function lossySocket(target: string): Promise<LossySocket> {
  const path = join(tempFolder('lossy'), 'l.sock');
  const open = new Set<Socket>();
  let lost: (() => void) | null = null;
  let pass = 0;
  const server = createServer((client) => {
    const redis = createConnection(target);
    for (const socket of [client, redis]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        redis.destroy();
      });
    }
    client.pipe(redis);
    redis.on('data', (bytes) => {
      if (!lost || pass > 0) {
        pass = Math.max(pass - 1, 0);
        client.write(bytes);
        return;
      }
      lost();
      lost = null;
      client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    loseAnswer: (after = 0) =>
      new Promise((resolve) => {
        pass = after;
        lost = resolve;
      }),
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
