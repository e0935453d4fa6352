import { attemptId, errorBody, isEnded, type DispatchRecord, type LogsData } from '#contract';
import type { FastifyInstance } from 'fastify';
import { setTimeout as delay } from 'node:timers/promises';
import { renderLine } from '#vendors';
import { answered, refuse } from '../answers.js';
import { dispatchIdOf, refuseUnknownKeys, wholeOf, wordOf } from '../query.js';
import type { ApiResources } from '../resources.js';

/** How often the end of a growing file is looked at while a follower waits, ms. */
const LOOK_MS = 200;
/** A follower is answered after this at the latest, ms; it asks again. */
const WAIT_MAX = 30_000;

/**
 * GET /v1/dispatches/:id/logs?attempt=N&from=BYTE&raw=1&wait=MS: what the agent of an attempt did, from a byte of its
 * output on (the last attempt unless told), while it runs and after it. With `wait` it answers when there is something
 * new, or when the daemon hands over.
 */
export function logsRoute(
  app: FastifyInstance,
  { records, output }: Pick<ApiResources, 'records' | 'output'>,
  closing: () => boolean,
): void {
  app.get<{ Params: { id: string }; Querystring: Record<string, unknown> }>(
    '/v1/dispatches/:id/logs',
    async (request) => {
      const id = dispatchIdOf(request.params.id);
      const { query } = request;
      refuseUnknownKeys(query, ['attempt', 'from', 'raw', 'wait']);
      const asked = wholeOf(query, 'attempt', { default: 0, min: 1, max: 1_000_000 });
      const from = wholeOf(query, 'from', { default: 0, min: 0, max: Number.MAX_SAFE_INTEGER });
      const wait = wholeOf(query, 'wait', { default: 0, min: 0, max: WAIT_MAX });
      const raw = wordOf(query, 'raw') === '1';

      const until = performance.now() + wait;
      for (;;) {
        const record = await records.read(id);
        if (record === null) refuse(errorBody('CMO_E_NO_DISPATCH', `no dispatch ${id}`));
        const data = await partOf(record, asked === 0 ? null : asked, from, raw);
        const news = data.next > from || data.lines.length > 0 || data.attemptEnded || data.dispatchEnded;
        if (news || performance.now() >= until || closing() || request.raw.socket.destroyed)
          return answered('cmo.logs/1', data);
        await delay(LOOK_MS);
      }
    },
  );

  async function partOf(record: DispatchRecord, asked: number | null, from: number, raw: boolean): Promise<LogsData> {
    const lastAttempt = lastStarted(record);
    const attempt = asked ?? lastAttempt;
    const common = { id: record.id, lastAttempt, dispatchEnded: isEnded(record.state) };
    if (attempt === null)
      return { ...common, attempt, lane: null, model: null, next: from, attemptEnded: false, lines: [] };
    if (lastAttempt === null || attempt > lastAttempt)
      refuse(
        errorBody('CMO_E_NO_DISPATCH', `${record.id} has no attempt ${attempt}`, {
          fix: `\`cmo show ${record.id}\` lists its attempts`,
        }),
      );
    const part = await output(attemptId(record.id, attempt), from);
    if (part === null)
      refuse(
        errorBody('CMO_E_NO_DISPATCH', `the output of attempt ${attempt} is not on this box`, {
          details: [`it ran on ${nodeOf(record, attempt)}`],
          fix: 'ask there; old run folders are removed by `cmo gc`',
        }),
      );
    const { lane, model, kind, text, next, ended, errors } = part;
    const lines = raw
      ? []
      : [
          ...text.split('\n').flatMap((line) => renderLine(kind, line)),
          ...errors.map((line) => ({ kind: 'error' as const, text: `stderr: ${line}` })),
        ];
    return { ...common, attempt, lane, model, next, attemptEnded: ended, lines, ...(raw && { raw: text }) };
  }
}

function lastStarted(record: DispatchRecord): number | null {
  return record.state === 'running' ? record.attempt : (record.history.at(-1)?.attempt ?? null);
}

function nodeOf(record: DispatchRecord, attempt: number): string {
  return record.history.find((past) => past.attempt === attempt)?.node ?? record.node ?? 'another node';
}
