import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Envelope, SubmitData } from '#contract';
import { killNow } from '../support/processes.js';
import { waitUntil } from '../support/wait-until.js';
import { openRealHome, type RealHome } from './real-home.js';

let home: RealHome;
beforeAll(async () => {
  home = await openRealHome();
});
afterAll(() => home.close());

async function submit(prompt: string, ...flags: string[]): Promise<string> {
  const { stdout } = await home.cmo(['submit', '--json', ...flags], prompt);
  return (JSON.parse(stdout) as { data: SubmitData }).data.dispatches[0]?.dispatchId ?? '';
}

async function wait(id: string): Promise<Envelope> {
  return JSON.parse((await home.cmo(['wait', '--json', id])).stdout) as Envelope;
}

const attemptsOf = (id: string) =>
  home.receipts().flatMap((line) => (line.kind === 'attempt' && line.dispatch === id ? [line] : []));

describe.each(['codex', 'claude'] as const)('a %s that was cut off', (lane) => {
  test('while it waited for its model goes on in its session: the resumed request holds the old history', async () => {
    const id = await submit(
      `The ${lane} task, word for word. [[sim:hang id=${lane} times=1 then=echo]]`,
      '--role',
      'implement',
      '--pin',
      lane,
    );
    await waitUntil(() => home.bodies(`The ${lane} task`).length === 1, { what: 'its request', timeoutMs: 40_000 });
    const { pid } = JSON.parse(readFileSync(join(home.stateDir, 'runs', `${id}.1`, 'run.json'), 'utf8')) as {
      pid: number;
    };
    await killNow(pid);

    const envelope = await wait(id);
    expect(envelope).toMatchObject({ ok: true, state: 'succeeded', lane });
    const [first, second] = attemptsOf(id);
    expect(first).toMatchObject({ outcome: 'interrupted' });
    expect(second).toMatchObject({ outcome: 'ok', session: first?.session, notes: ['resumed'] });
    const last = home.bodies(`The ${lane} task`).at(-1) ?? '';
    expect(last).toContain('You were cut off');
    expect(home.bodies(`The ${lane} task`)).toHaveLength(2);
  });

  test('in the middle of a command looks at what became of it', async () => {
    const started = join(home.work, `${lane}-started`);
    const id = await submit(
      `Do it. [[sim:tool id=${lane} times=1 then=echo cmd="touch ${started}; sleep 100"]]`,
      '--role',
      'implement',
      '--pin',
      lane,
    );
    await waitUntil(
      () => home.bodies(`sim:tool id=${lane}`).length === 1 && attemptsOf(id).length === 0 && readable(started),
      { what: 'its command to run', timeoutMs: 40_000 },
    );
    const { pid } = JSON.parse(readFileSync(join(home.stateDir, 'runs', `${id}.1`, 'run.json'), 'utf8')) as {
      pid: number;
    };
    await killNow(pid);
    expect(await wait(id)).toMatchObject({ ok: true });
    const last = home.bodies(`sim:tool id=${lane}`).at(-1) ?? '';
    expect(last).toContain('sleep 100');
    expect(last).toContain('You were cut off');
    expect(attemptsOf(id).map(({ notes }) => notes)).toEqual([[], ['resumed']]);
  });
});

test('a codex answer that does not fit is repaired in its session, and the repair is billed for its own tokens only', async () => {
  const schema = home.file(
    'schema.json',
    JSON.stringify({
      type: 'object',
      required: ['verdict'],
      properties: { verdict: { type: 'string' } },
      additionalProperties: false,
    }),
  );
  const id = await submit(
    'Judge it. [[sim:json times=1 then=json value={"verdict":1} tokens_in=1000]]',
    '--pin',
    'codex',
    '--schema',
    schema,
  );
  expect(await wait(id)).toMatchObject({ ok: true, resultJson: { verdict: expect.any(String) as string } });
  const [first, second] = attemptsOf(id);
  expect(first).toMatchObject({ class: 'schema', usage: { inputTokens: 1000 }, notes: [] });
  expect(second).toMatchObject({
    outcome: 'ok',
    usage: { inputTokens: 1200 },
    notes: ['repair'],
    session: first?.session,
  });
  expect(home.bodies('Judge it.').at(-1)).toContain('/verdict');
});

function readable(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
