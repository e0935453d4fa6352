import { CmoError, ERRORS, errorBody, PROTOCOL, VERSION, type Answer, type ErrorBody } from '#contract';
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import type { Log } from './resources.js';

const VERSION_HEADER = 'cmo-version';
const PROTOCOL_HEADER = 'cmo-protocol';

export function answered<T>(schema: string, data: T): Answer<T> {
  return { schema, ok: true, data };
}

/** Ends the handler with this error; the HTTP status is the registry's. */
export function refuse(error: ErrorBody): never {
  throw new CmoError(error);
}

/** Headers that let a client of another version notice, and one place where a thrown thing becomes an answer. */
export function installAnswers(app: FastifyInstance, log: Log, problems: () => string[] = () => []): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header(VERSION_HEADER, VERSION).header(PROTOCOL_HEADER, String(PROTOCOL));
  });
  app.setNotFoundHandler((request, reply) => {
    send(
      reply,
      errorBody('CMO_E_USAGE', `no route ${request.method} ${pathOf(request.url)}`, {
        fix: 'cmo and its daemon may be of different versions: `cmo status` shows both',
      }),
      404,
    );
  });
  app.setErrorHandler((error, request, reply) => {
    const body = isRedisAway(error)
      ? {
          ...bodyOf(error),
          details: [
            ...problems().filter((problem) => problem.startsWith('Redis ')),
            'nothing was recorded; agents that run go on',
          ],
        }
      : bodyOf(error);
    if (body.code === 'CMO_E_BUG')
      log.error({ err: error, route: request.routeOptions.url ?? null }, 'a request ended in a bug');
    send(reply, body);
  });
}

function send(reply: FastifyReply, error: ErrorBody, status = ERRORS[error.code].http): void {
  const answer: Answer<never> = { schema: 'cmo.error/1', ok: false, error };
  void reply.code(status).send(answer);
}

/** What the thrown thing means to the caller. A bug's own text stays in the log: it may quote what it choked on. */
export function bodyOf(error: unknown): ErrorBody {
  if (error instanceof CmoError) return error.body;
  if (isRedisAway(error)) return errorBody('CMO_E_REDIS', 'Redis cannot be reached now');
  if (error instanceof Error && error.message.startsWith('BUSY '))
    return errorBody('CMO_E_REDIS', 'Redis is busy with a script and answers nobody now', {
      fix: 'wait for its end, or end it with `SCRIPT KILL`; nothing was recorded, and agents that run go on',
    });
  if (error instanceof Error && /^(NOPERM|NOAUTH|WRONGPASS) /.test(error.message))
    return errorBody('CMO_E_REDIS', 'Redis does not let its user do that', {
      fix: 'give the user the rights that docs/guides/redis.md lists',
    });
  const refusal = writeRefusalOf(error);
  if (refusal !== null)
    return errorBody('CMO_E_REDIS', `Redis takes no writes now: ${refusal}`, {
      fix: 'free space, or give Redis more memory; what runs goes on',
    });
  const { statusCode, code } = error as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return errorBody('CMO_E_USAGE', 'the submit is too large', { fix: 'send it in parts of at most 64 MB' });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return errorBody('CMO_E_USAGE', 'the request was not understood: it must be JSON', {
      fix: 'see docs/reference for the HTTP interface',
    });
  return errorBody('CMO_E_BUG');
}

/** ioredis says so in several ways, none of them a class of its own public surface. */
function isRedisAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return (
    error.name === 'MaxRetriesPerRequestError' ||
    error.message === 'Connection is closed.' ||
    error.message === 'Command timed out' ||
    error.message.startsWith('LOADING ') ||
    error.message.startsWith('MASTERDOWN ') ||
    error.message.startsWith("Stream isn't writeable") ||
    code === 'ECONNREFUSED' ||
    code === 'ECONNRESET' ||
    code === 'ENOENT' ||
    code === 'EPIPE'
  );
}

/** In words of our own: Redis quotes what it was sent. */
function writeRefusalOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (error.message.startsWith('MISCONF ')) return 'it cannot write its file (is the disk full?)';
  if (error.message.startsWith('OOM ')) return 'its memory is full';
  return error.message.startsWith('READONLY ') ? 'it is a replica' : null;
}

function pathOf(url: string): string {
  return url.split('?')[0] ?? url;
}
