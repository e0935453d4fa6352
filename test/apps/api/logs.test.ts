import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LogsData } from '#contract';
import { newPlan } from '../../libs/runner/support.js';
import { openApi, type TestApi } from './api.js';
import { openTransitions } from '#queue';
import { gateKeys, keys } from '#store';

let api: TestApi;
beforeEach(async () => {
  api = await openApi();
});
afterEach(() => api.close());

const event = (text: string): string =>
  `${JSON.stringify({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text } })}\n`;

/** A dispatch whose first attempt runs here, with the run folder that its supervisor would have. */
async function running(): Promise<{ id: string; out: string; folder: string }> {
  const { dispatchId: id } = await api.submit({ pin: 'codex' });
  const record = await api.records.read(id);
  if (!record) throw new Error('no record');
  await api.redis.hset(
    gateKeys('codex')[1],
    'token',
    JSON.stringify({ st: 'token', cost: {}, lane: 'codex', node: 'test-node' }),
  );
  await openTransitions(api.redis, api.config).start({
    record,
    node: 'test-node',
    nonce: 'n',
    token: 'token',
    cost: {},
    ttlMs: 60_000,
  });
  const folder = join(api.runs, `${id}.1`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(newPlan(['/bin/true'], { dispatch: id, model: 'gpt-x' })));
  return { id, folder, out: join(folder, 'out') };
}

async function ask(id: string, query = ''): Promise<LogsData> {
  const answer = await api.answer<LogsData>('GET', `/v1/dispatches/${id}/logs${query}`);
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.data;
}

test('a part ends with a line, and the next begins where it ended, whatever was being written', async () => {
  const { id, out } = await running();
  const [first, second] = [event('eins – größer'), event('zwei ✓')];
  const bytes = Buffer.from(second);
  // The second line is there up to the middle of a character.
  writeFileSync(out, Buffer.concat([Buffer.from(first), bytes.subarray(0, bytes.indexOf(0xe2) + 1)]));
  const one = await ask(id);
  expect(one).toMatchObject({
    attempt: 1,
    lane: 'codex',
    model: 'gpt-x',
    next: Buffer.byteLength(first),
    attemptEnded: false,
    dispatchEnded: false,
    lines: [{ kind: 'message', text: 'eins – größer' }],
  });
  expect(await ask(id, `?from=${one.next}`)).toMatchObject({ next: one.next, lines: [] });
  appendFileSync(out, bytes.subarray(bytes.indexOf(0xe2) + 1));
  expect((await ask(id, `?from=${one.next}`)).lines).toEqual([{ kind: 'message', text: 'zwei ✓' }]);
});

test('once the run has ended, a last line without a line end counts, and stderr is shown', async () => {
  const { id, out, folder } = await running();
  writeFileSync(out, event('done').trimEnd());
  writeFileSync(join(folder, 'err'), '\u001b[31mwarning\u001b[0m: odd\n\n');
  expect((await ask(id)).lines).toEqual([]);
  writeFileSync(join(folder, 'exit.json'), JSON.stringify({ code: 0, timedOut: false, spawnError: null }));
  expect(await ask(id)).toMatchObject({
    attemptEnded: true,
    lines: [
      { kind: 'message', text: 'done' },
      { kind: 'error', text: 'stderr: warning: odd' },
    ],
  });
});

test('raw gives what the CLI wrote, to the byte', async () => {
  const { id, out } = await running();
  const text = `not json ✓\n${event('a')}`;
  writeFileSync(out, text);
  expect(await ask(id, '?raw=1')).toMatchObject({ raw: text, lines: [], next: Buffer.byteLength(text) });
});

test('a line longer than one read is shown whole', async () => {
  const { id, out } = await running();
  writeFileSync(out, event('x'.repeat(3_000_000)) + event('after'));
  const first = await ask(id);
  const rest =
    first.lines.length > 1
      ? first
      : { ...first, lines: [...first.lines, ...(await ask(id, `?from=${first.next}`)).lines] };
  expect(rest.lines.map(({ text }) => text.slice(-30))).toEqual([
    expect.stringContaining('characters)') as string,
    'after',
  ]);
});

test('a follower is answered when something is written, and at once when the daemon hands over', async () => {
  const { id, out } = await running();
  writeFileSync(out, event('a'));
  const { next } = await ask(id);
  const waiting = ask(id, `?from=${next}&wait=20000`);
  appendFileSync(out, event('b'));
  expect((await waiting).lines).toEqual([{ kind: 'message', text: 'b' }]);
  const other = api.send(
    'GET',
    `/v1/dispatches/${id}/logs?from=${Buffer.byteLength(event('a') + event('b'))}&wait=20000`,
  );
  await api.api.close();
  expect((await other).statusCode).toBe(200);
});

test('what is not there is said: no attempt yet, no such attempt, another box, a gap in the numbers', async () => {
  const { dispatchId } = await api.submit();
  expect(await ask(dispatchId)).toMatchObject({ attempt: null, lastAttempt: null, lines: [], next: 0 });
  const { id } = await running();
  await expect(ask(id, '?attempt=2')).rejects.toThrow('has no attempt 2');
  await api.redis.hset(
    keys.record(dispatchId),
    'history',
    JSON.stringify([{ attempt: 1, node: 'elsewhere', lane: 'codex' }]),
  );
  await expect(ask(dispatchId)).rejects.toThrow('not on this box');
  await expect(ask(id, '?from=-1')).rejects.toThrow('from');
  expect((await api.send('GET', `/v1/dispatches/${id}/logs?color=1`)).statusCode).toBe(400);
});
