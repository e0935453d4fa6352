import { connect } from 'node:net';

/**
 * One exchange with the daemon over its unix socket. `absent`: nothing listened, so nothing was done. `broken`: the
 * connection ended in the middle, so it may have been done; every request of ours may be sent again. HTTP/1.0, which is
 * one text each way and then the end: Node's own client costs each start of `cmo` a tenth of a start of Node, and fetch
 * a third.
 */
export type Exchange =
  | { kind: 'answered'; status: number; version: string | null; protocol: string | null; body: unknown }
  | { kind: 'absent'; why: string }
  | { kind: 'broken'; why: string }
  | { kind: 'timeout' }
  | { kind: 'aborted' };

export type Call = {
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
  /** Without an answer for this long, it counts as hung. */
  timeoutMs: number;
  /** The attempt that this process belongs to. */
  attempt?: string;
  signal?: AbortSignal;
};

const NOBODY_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'EAGAIN', 'ENOTSOCK', 'ENOTDIR']);
/** The largest answer is an envelope with its text; past this something else is on the socket. */
const MOST_BYTES = 256 * 1024 * 1024;

export function exchange(socketPath: string, call: Call): Promise<Exchange> {
  return new Promise((resolve) => {
    const { timeoutMs, signal } = call;
    const chunks: Buffer[] = [];
    let size = 0;
    let connected = false;
    const socket = connect(socketPath);
    const done = (result: Exchange): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      resolve(result);
      socket.destroy();
    };
    const abort = (): void => done({ kind: 'aborted' });
    const timer = setTimeout(() => done({ kind: 'timeout' }), timeoutMs);
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
    socket.on('connect', () => (connected = true));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      done({
        kind: !connected && NOBODY_THERE.has(error.code ?? '') ? 'absent' : 'broken',
        why: error.code ?? error.message,
      }),
    );
    socket.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MOST_BYTES) done({ kind: 'broken', why: 'the answer has no end' });
      else chunks.push(chunk);
    });
    socket.on('end', () => done(answerIn(Buffer.concat(chunks))));
    for (const part of requestText(call)) socket.write(part);
  });
}

/** Every text in the head is ours but for the mark of an attempt, which comes from the environment. */
function requestText({ method, path, body, attempt }: Call): [string] | [string, Buffer] {
  const payload = body === undefined ? null : Buffer.from(JSON.stringify(body));
  const head = [
    `${method} ${path} HTTP/1.0`,
    'host: localhost',
    ...(attempt === undefined ? [] : [`cmo-attempt: ${attempt}`]),
    ...(payload === null ? [] : ['content-type: application/json', `content-length: ${payload.length}`]),
  ];
  const unfit = head.find((line) => /[^\x20-\x7e]/.test(line));
  if (unfit !== undefined) throw new Error(`no line of a request: ${JSON.stringify(unfit.slice(0, 200))}`);
  const text = `${head.join('\r\n')}\r\n\r\n`;
  return payload === null ? [text] : [text, payload];
}

/** A truncated answer shows by its length, or by JSON that doesn't close. */
function answerIn(bytes: Buffer): Exchange {
  const split = bytes.indexOf('\r\n\r\n');
  if (split < 0) return { kind: 'broken', why: 'the answer was cut off' };
  const [first = '', ...lines] = bytes.toString('latin1', 0, split).split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(first)?.[1] ?? 0);
  if (status === 0) return { kind: 'broken', why: 'the answer was no HTTP' };
  const header = (name: string): string | null =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim() ?? null;
  const length = header('content-length');
  const text = bytes.subarray(split + 4);
  if (length !== null && text.length !== Number(length)) return { kind: 'broken', why: 'the answer was cut off' };
  const parsed = parseJson(text.toString('utf8'));
  return parsed.ok
    ? { kind: 'answered', status, version: header('cmo-version'), protocol: header('cmo-protocol'), body: parsed.value }
    : { kind: 'broken', why: 'the answer was no JSON' };
}

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false };
  }
}
