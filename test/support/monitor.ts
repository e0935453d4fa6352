import { createConnection } from 'node:net';
import type { Redis } from 'ioredis';

export type Monitor = { close(): void };

/**
 * The commands that clients of a Redis on a unix socket send, by MONITOR; those that scripts run inside are left out.
 * Over a connection of its own making: that of ioredis now and then fails on a Redis that is busy while it begins
 * ("Command queue state error", seen on 6.0.0: the first lines come in one piece with the OK).
 */
export function monitorCommands(redis: Redis, heard: (args: string[]) => void): Promise<Monitor> {
  const { path } = redis.options;
  if (path === undefined) throw new Error('a monitor needs the path of a unix socket');
  return new Promise((resolve, reject) => {
    const socket = createConnection(path, () => socket.write('MONITOR\r\n'));
    let rest = '';
    socket.setEncoding('utf8');
    socket.on('error', reject);
    socket.on('data', (text: string) => {
      const lines = (rest + text).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '+OK') resolve({ close: () => socket.destroy() });
        else if (!line.startsWith('-')) hear(line);
        else reject(new Error(line));
      }
    });
    // +1796017165.957997 [0 unix:/tmp/r.sock] "hgetall" "cmo:q:codex:probe"
    const hear = (line: string): void => {
      const [, source = '', words = ''] = /^\+[\d.]+ \[\d+ ([^\]]*)\] (.*)$/.exec(line) ?? [];
      if (source !== 'lua') heard([...words.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => plain(word)));
    };
  });
}

const CONTROL: Record<string, string> = { n: '\n', r: '\r', t: '\t', a: '\u0007', b: '\b' };

/** Bytes that are no text stay bytes: one character each. */
function plain(word: string): string {
  return word.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex: string | undefined, letter: string) =>
    hex === undefined ? (CONTROL[letter] ?? letter) : String.fromCharCode(parseInt(hex, 16)),
  );
}
