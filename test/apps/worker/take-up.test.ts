import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AttemptReceipt, DispatchRecord, DispatchRequest } from '#contract';
import { openBox, type Box } from '../../support/box.js';
import { killNow } from '../../support/processes.js';
import { waitUntil } from '../../support/wait-until.js';

let box: Box;
beforeEach(async () => {
  box = await openBox({ timing: { sweepMs: 200, heartbeatMs: 300, killGraceMs: 1_000 } });
});
afterEach(() => box.close());

const attempts = (id: string): AttemptReceipt[] =>
  box.receipts().flatMap((line) => (line.kind === 'attempt' && line.dispatch === id ? [line] : []));
const notesOf = (id: string): string[][] =>
  attempts(id).map(({ notes }) => notes.filter((note) => !note.startsWith('ended-by-us')));
const request = (more: Partial<DispatchRequest>): DispatchRecord['request'] => more as DispatchRecord['request'];

/** What the CLI of an attempt was given on stdin, and its arguments. */
function given(id: string, attempt: number): { prompt: string; argv: string[] } {
  const name = `${id}.${attempt}`;
  const runs = join(box.stateDir, 'runs');
  const folder = readdirSync(runs).includes(name) ? join(runs, name) : join(runs, 'done', name);
  const { argv } = JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')) as { argv: string[] };
  return { prompt: readFileSync(join(folder, 'prompt'), 'utf8'), argv };
}

/** Its session file comes with the first line. */
async function hasSpoken(id: string, attempt: number): Promise<void> {
  const out = join(box.stateDir, 'runs', `${id}.${attempt}`, 'out');
  await waitUntil(() => readFileSync(out, 'utf8').length > 0, { what: `${id}.${attempt} to say something` });
}

async function killSupervisor(id: string, attempt = 1): Promise<void> {
  const started = (): boolean => box.starts()[`${id}.${attempt}`] === 1;
  await waitUntil(started, { what: `${id}.${attempt} to start` });
  // The agent's first act may come before its supervisor has written that it runs.
  await waitUntil(() => existsSync(join(box.stateDir, 'runs', `${id}.${attempt}`, 'run.json')));
  const { pid } = JSON.parse(readFileSync(join(box.stateDir, 'runs', `${id}.${attempt}`, 'run.json'), 'utf8')) as {
    pid: number;
  };
  await hasSpoken(id, attempt);
  await killNow(pid);
}

describe.each(['codex', 'claude'] as const)('on %s', (lane) => {
  test.each(['read', 'write'] as const)(
    'an interrupted agent with access %s goes on in its own session',
    async (access) => {
      await box.start();
      const id = await box.submit('[[sim:hang stage=stream times=1 then=echo text="went on"]]', { lane, access });
      await killSupervisor(id);
      expect((await box.ended(id)).state).toBe('succeeded');
      expect(await box.records.blob(id, 'result')).toBe('went on');
      const [first, second] = attempts(id);
      expect(first).toMatchObject({
        outcome: 'interrupted',
        next: expect.stringContaining('its session goes on') as string,
      });
      expect(second).toMatchObject({ outcome: 'ok', session: first?.session });
      expect(notesOf(id)).toEqual([[], ['resumed']]);
      expect(given(id, 2).argv).toContain(lane === 'codex' ? 'resume' : '--resume');
      expect(given(id, 2).prompt).not.toContain('[[sim:');
      expect(given(id, 2).prompt).toContain('cut off');
    },
  );

  test('an answer that does not fit is repaired in the session that gave it, once', async () => {
    await box.start();
    const schema = JSON.stringify({
      type: 'object',
      required: ['verdict'],
      properties: { verdict: { enum: ['pass', 'fail'] } },
    });
    const marker = (then: string): string =>
      `[[sim:json times=1 then=${then} value="{\\"verdict\\":\\"maybe\\"}" text="{\\"verdict\\":\\"pass\\"}"]]`;
    const mended = await box.submit(marker('echo'), { lane }, { schema });
    const broken = await box.submit(marker('json'), { lane, request: request({ failover: false }) }, { schema });
    expect((await box.ended(mended)).state).toBe('succeeded');
    expect((await box.ended(broken)).state).toBe('failed');
    expect(attempts(mended).map(({ class: cls }) => cls)).toEqual(['schema', null]);
    expect(attempts(broken).map(({ class: cls }) => cls)).toEqual(['schema', 'schema']);
    for (const id of [mended, broken]) {
      expect(notesOf(id)).toEqual([[], ['repair']]);
      expect(given(id, 2).prompt).toContain('/verdict');
      expect(given(id, 2).argv).toContain(lane === 'codex' ? 'resume' : '--resume');
    }
  });

  test('a writer without a session waits for a look, and a reader is run again', async () => {
    await box.start();
    const prompt = '[[sim:hang stage=stream times=1 then=echo text="from the start"]]';
    const [writer, reader] = [
      await box.submit(`w ${prompt}`, { lane, access: 'write' }),
      await box.submit(`r ${prompt.replace('hang', 'hang id=r')}`, { lane }),
    ];
    await waitUntil(() => Object.keys(box.starts()).length === 2);
    // Both, before the sessions go: an agent whose session file goes while it writes it dies of that.
    for (const id of [writer, reader]) await hasSpoken(id, 1);
    box.forgetSessions();
    for (const id of [writer, reader]) await killSupervisor(id);
    expect(await box.ended(writer)).toMatchObject({ state: 'failed', needsLook: true });
    expect((await box.ended(reader)).state).toBe('succeeded');
    expect(attempts(writer)).toHaveLength(1);
    expect(notesOf(reader)).toEqual([[], ['re-run']]);
    expect(given(reader, 2).prompt).toContain('[[sim:');
  });
});

test('a writer whose window closes is continued on the other lane, which is told so and gets the partial answer', async () => {
  await box.start();
  const id = await box.submit('The task itself. [[codex:usage-limit act=1]]', { access: 'write' });
  const record = await box.ended(id);
  expect(record.state).toBe('succeeded');
  expect(record.history.map(({ lane, class: cls }) => [lane, cls])).toEqual([
    ['codex', 'usage_limit'],
    ['claude', null],
  ]);
  expect(notesOf(id)).toEqual([[], ['continued']]);
  const { prompt } = given(id, 2);
  expect(prompt.startsWith('The task itself.')).toBe(true);
  expect(prompt).toContain('lane codex');
  expect(prompt).toContain('[incomplete output: usage_limit]\nworking on it\n[incomplete output ends]');
});

test('a writer that was begun and may wait for its window no longer is deferred for a look; one that did nothing is not', async () => {
  await box.start();
  const here = { access: 'write' as const, waitUntil: 1, request: request({ failover: false }) };
  const [begun, refused] = [
    await box.submit('[[codex:usage-limit act=1]]', { lane: 'codex', ...here }),
    await box.submit('[[claude:usage-limit]]', { lane: 'claude', ...here }),
  ];
  expect(await box.ended(begun)).toMatchObject({ state: 'deferred', needsLook: true });
  expect(await box.ended(refused)).toMatchObject({ state: 'deferred', needsLook: false });
});

test('a writer that was refused before it did anything starts elsewhere from the prompt alone', async () => {
  await box.start();
  const id = await box.submit('The task itself. [[codex:usage-limit]]', { access: 'write' });
  expect((await box.ended(id)).state).toBe('succeeded');
  expect(notesOf(id)).toEqual([[], []]);
  expect(given(id, 2).prompt).toBe('The task itself. [[codex:usage-limit]]');
});

test('a third end from outside stops a dispatch, with the reason', async () => {
  await box.start();
  const id = await box.submit('[[sim:hang]]');
  for (const attempt of [1, 2, 3]) await killSupervisor(id, attempt);
  const record = await box.ended(id);
  expect(record).toMatchObject({ state: 'failed' });
  expect(attempts(id)).toHaveLength(3);
  expect(record.error?.message).toContain('ended from outside');
});
