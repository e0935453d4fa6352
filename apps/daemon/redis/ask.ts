import { createConnection } from 'node:net';

/**
 * One command to a Redis on a unix socket, in plain RESP, and its reply's first line (of a bulk reply: its text). A
 * client library would reconnect, queue and send again; here the first answer is what matters.
 */
export type Reply =
  { kind: 'reply'; text: string } | { kind: 'error'; text: string } | { kind: 'silent' } | { kind: 'absent' };

export function ask(socket: string, command: readonly string[], timeoutMs = 2_000): Promise<Reply> {
  return new Promise((resolve) => {
    const connection = createConnection(socket);
    const timer = setTimeout(() => settle({ kind: 'silent' }), timeoutMs);
    let bytes = Buffer.alloc(0);
    function settle(reply: Reply): void {
      clearTimeout(timer);
      connection.removeAllListeners();
      // A reset that arrives after the answer must not become an uncaught error.
      connection.on('error', () => undefined);
      connection.destroy();
      resolve(reply);
    }
    connection.once('error', (error: NodeJS.ErrnoException) =>
      settle({ kind: error.code === 'ECONNRESET' || error.code === 'EPIPE' ? 'silent' : 'absent' }),
    );
    connection.once('close', () => settle({ kind: 'silent' }));
    connection.once('connect', () => connection.write(encode(command)));
    connection.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const reply = decode(bytes);
      if (reply) settle(reply);
    });
  });
}

function encode(command: readonly string[]): string {
  return `*${command.length}\r\n${command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

/** Null: more is to come. */
function decode(bytes: Buffer): Reply | null {
  const end = bytes.indexOf('\r\n');
  if (end === -1) return null;
  const line = bytes.toString('utf8', 1, end);
  if (bytes[0] === 0x2d) return { kind: 'error', text: line };
  if (bytes[0] !== 0x24) return { kind: 'reply', text: line };
  const from = end + 2;
  const to = from + Number(line);
  return bytes.length < to + 2 ? null : { kind: 'reply', text: bytes.toString('utf8', from, to) };
}
