import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import { VERSION, PROTOCOL, type DispatchRequest, type Envelope, type ErrorBody } from '#contract';
import { onLeave } from '../../../support/on-leave.js';

export type Received = { method: string; path: string; query: URLSearchParams; body: unknown };
export type Reply = { status?: number; body: unknown; headers?: Record<string, string> } | 'hang' | 'cut';

/**
 * The daemon's side of the socket, played by the test: it answers what the test says and keeps what it was asked. The
 * HTTP, the socket and the processes are real; only what stands behind the interface is not here.
 */
export type FakeDaemon = {
  received: Received[];
  submitted(): DispatchRequest[];
  close(): Promise<void>;
};

export async function fakeDaemon(
  state: string,
  answer: (request: Received) => Reply | Promise<Reply>,
): Promise<FakeDaemon> {
  mkdirSync(join(state, 'sockets'), { recursive: true, mode: 0o700 });
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', 'http://socket');
      const one: Received = {
        method: request.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        body: await bodyOf(request),
      };
      received.push(one);
      const reply = await answer(one);
      if (reply === 'cut') request.socket.destroy();
      if (reply === 'cut' || reply === 'hang') return;
      response.writeHead(reply.status ?? 200, {
        'content-type': 'application/json',
        'cmo-version': VERSION,
        'cmo-protocol': String(PROTOCOL),
        ...reply.headers,
      });
      response.end(JSON.stringify(reply.body));
    })();
  });
  await new Promise<void>((resolve) => server.listen(join(state, 'sockets', 'api.sock'), resolve));
  onLeave(() => server.closeAllConnections());
  return {
    received,
    submitted: () =>
      received
        .filter(({ method, path }) => method === 'POST' && path === '/v1/dispatches')
        .flatMap(({ body }) => (body as { dispatches: DispatchRequest[] }).dispatches),
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return chunks.length === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString()) as unknown);
}

export function data(schema: string, value: unknown): Reply {
  return { body: { schema, ok: true, data: value } };
}

export function refusal(error: ErrorBody, status: number): Reply {
  return { status, body: { schema: 'cmo.error/1', ok: false, error } };
}

export function envelope(id: string, more: Partial<Envelope> = {}): Envelope {
  return {
    schema: 'cmo.envelope/1',
    ok: false,
    dispatchId: id,
    state: 'running',
    batch: null,
    provider: 'codex',
    lane: 'codex',
    vendor: 'openai',
    model: 'gpt-5.6-terra',
    tier: 'balanced',
    effort: 'medium',
    failedOver: false,
    attempts: [],
    durationMs: 12_000,
    usage: null,
    result: null,
    resultJson: null,
    decision: {
      weight: 0.513,
      tier: 'balanced',
      reason: 'implement · complexity 3/5 · length m → balanced | codex healthy (5%)',
      notes: [],
    },
    receipts: [],
    ...more,
  };
}

export const succeeded = (id: string, result = 'the answer'): Envelope =>
  envelope(id, { ok: true, state: 'succeeded', result });

/** Takes submits; answers each question with what `ask` says of the id. */
export function oneDispatch(
  ask: (id: string, request: Received) => Envelope | Reply | Promise<Envelope | Reply>,
): (request: Received) => Promise<Reply> {
  return async (request) => {
    if (request.method === 'POST' && request.path === '/v1/dispatches') {
      const { dispatches } = request.body as { dispatches: DispatchRequest[] };
      return data('cmo.submit/1', { dispatches: dispatches.map(({ id }) => envelope(id, { state: 'queued' })) });
    }
    const id = request.path.split('/')[3] ?? '';
    const answer = await ask(id, request);
    return answer === 'hang' || answer === 'cut' || 'body' in answer ? answer : data('cmo.dispatch/1', answer);
  };
}
