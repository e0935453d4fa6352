import { request as httpRequest } from 'node:http';

/**
 * One exchange with the daemon over its unix socket. `absent`: nothing listened, so nothing was done. `broken`: the
 * connection ended in the middle, so it may have been done; every request of ours may be sent again. Node's own client,
 * because fetch costs each start of `cmo` a third more and knows no unix sockets.
 */
export type Exchange =
  | { kind: 'answered'; status: number; version: string | null; protocol: string | null; body: unknown }
  | { kind: 'absent'; why: string }
  | { kind: 'broken'; why: string }
  | { kind: 'timeout' }
  | { kind: 'aborted' };

export type Call = { method: 'GET' | 'POST'; path: string; body?: unknown; /** Without an answer for so long, it counts as hung. */ timeoutMs: number; /** The attempt that this process belongs to. */ attempt?: string; signal?: AbortSignal };

const NOBODY_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'EAGAIN', 'ENOTSOCK', 'ENOTDIR']);
/**
 * Node's agent asks whether the host is an IP address, to name a TLS server that isn't there: compiling that expression
 * takes a tenth of a whole start of `cmo`. A name that is given is not asked for.
 */
const NO_SERVER_NAME = { servername: '' };
/** The largest answer is an envelope with its text; past this something else is on the socket. */
const MOST_BYTES = 256 * 1024 * 1024;

export function exchange(socketPath: string, { method, path, body, timeoutMs, attempt, signal }: Call): Promise<Exchange> {
  return new Promise((resolve) => {
    let connected = false;
    const payload = body === undefined ? null : Buffer.from(JSON.stringify(body));
    const headers = { connection: 'close', ...(attempt !== undefined && { 'cmo-attempt': attempt }), ...(payload && { 'content-type': 'application/json', 'content-length': String(payload.length) }) };
    const request = httpRequest({ socketPath, method, path, headers, ...NO_SERVER_NAME, agent: false, ...(signal && { signal }) });
    const done = (result: Exchange): void => {
      clearTimeout(timer);
      resolve(result);
      request.destroy();
    };
    const timer = setTimeout(() => done({ kind: 'timeout' }), timeoutMs);
    request.on('socket', (socket) => socket.once('connect', () => (connected = true)));
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (signal?.aborted) done({ kind: 'aborted' });
      else done({ kind: !connected && NOBODY_THERE.has(error.code ?? '') ? 'absent' : 'broken', why: error.code ?? error.message });
    });
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MOST_BYTES) done({ kind: 'broken', why: 'the answer has no end' });
        else chunks.push(chunk);
      });
      response.on('aborted', () => done(signal?.aborted ? { kind: 'aborted' } : { kind: 'broken', why: 'the answer was cut off' }));
      response.on('end', () => {
        const parsed = parseJson(Buffer.concat(chunks).toString('utf8'));
        if (!parsed.ok) return done({ kind: 'broken', why: 'the answer was no JSON' });
        done({ kind: 'answered', status: response.statusCode ?? 0, version: header(response.headers['cmo-version']), protocol: header(response.headers['cmo-protocol']), body: parsed.value });
      });
    });
    request.end(payload ?? undefined);
  });
}

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false };
  }
}

function header(value: string | string[] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
