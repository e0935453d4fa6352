import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AttemptReceipt, DispatchRecord, DispatchRequest, LaneConfig } from '#contract';
import { procTable } from '#runner/process-table';
import { openBox, type Box } from '../../support/box.js';
import { processesWith } from '../../support/processes.js';
import { testConfig } from '../../support/records.js';
import { waitUntil } from '../../support/wait-until.js';

/** Short bounds for what a person's box waits minutes for. */
const SILENCE_MS = 1_500;

let box: Box;
afterEach(() => box.close());

/**
 * One account a test dispatch, so that what closes one keeps no other: lanes `codex-0`, `claude-0`, … beside the two.
 */
async function openWith(change: (lane: LaneConfig) => Partial<LaneConfig> = () => ({}), apart = 0): Promise<void> {
  const base = testConfig().lanes.map((lane) => ({ ...lane, silenceMs: SILENCE_MS }));
  const more = base.flatMap((lane) =>
    Array.from({ length: apart }, (_, i) => ({ ...lane, id: `${lane.id}-${i}`, account: `${lane.id}-${i}` })),
  );
  box = await openBox({
    lanes: [...base, ...more].map((lane) => ({ ...lane, ...change(lane) })),
    slots: { account: 16, node: 16, dark: 16 },
    timing: { sweepMs: 300, killGraceMs: 1_000 },
  });
  await box.start();
}

const attempts = (id: string): AttemptReceipt[] =>
  box.receipts().flatMap((line) => (line.kind === 'attempt' && line.dispatch === id ? [line] : []));
const only = (more: Partial<DispatchRequest>): DispatchRecord['request'] =>
  ({ failover: false, attempts: 1, ...more }) as DispatchRecord['request'];

/** Sends each prompt to each vendor at once. @returns what became of them, by vendor and prompt */
async function each(
  prompts: Record<string, string>,
  lanes: readonly string[] = ['codex', 'claude'],
  more: Partial<DispatchRequest> = {},
  change: Omit<Partial<DispatchRecord>, 'lane'> = {},
): Promise<
  Record<
    string,
    {
      state: string;
      class: string | null;
      words: string | null;
      partial: string | null;
      error: DispatchRecord['error'];
      last: AttemptReceipt;
    }
  >
> {
  const sent = await Promise.all(
    lanes.flatMap((lane) =>
      Object.entries(prompts).map(async ([name, prompt]) => ({
        key: `${lane} ${name}`,
        id: await box.submit(prompt, { lane, request: only(more), ...change }),
      })),
    ),
  );
  const ended = await Promise.all(
    sent.map(async ({ key, id }) => {
      const record = await box.ended(id);
      const last = await waitUntil(() => attempts(id).at(-1));
      return [
        key,
        {
          state: record.state,
          class: last.class,
          words: last.words,
          partial: await box.records.blob(id, 'partial'),
          error: record.error,
          last,
        },
      ] as const;
    }),
  );
  for (const { id } of sent)
    expect(
      processesWith().filter(({ mark }) => mark.startsWith(id)),
      id,
    ).toEqual([]);
  return Object.fromEntries(ended);
}

describe('a CLI that hangs frees its slot in time', () => {
  beforeEach(() => openWith());

  test('before, during and after its work: silence for the first two, a success for the third', async () => {
    const seen = await each({
      before: '[[sim:hang stage=before]]',
      during: '[[sim:hang stage=tool]]',
      after: '[[sim:hang stage=after]]',
    });
    for (const vendor of ['codex', 'claude']) {
      expect(seen[`${vendor} before`], vendor).toMatchObject({ state: 'failed', class: 'silence' });
      expect(seen[`${vendor} after`], vendor).toMatchObject({
        state: 'succeeded',
        class: null,
        last: { outcome: 'ok', notes: ['ended-by-us:final'] },
      });
      expect(seen[`${vendor} during`], vendor).toMatchObject({ state: 'failed', class: 'silence' });
    }
    for (const account of ['codex', 'claude']) expect((await box.gate.snapshot(account)).inFlight).toBe(0);
  });

  test('by its wall clock where that comes first, also when it is deaf to TERM', async () => {
    const seen = await each({ slow: '[[sim:slow seconds=60 beat=0.3]]' }, ['claude'], { timeoutMs: 1_200 });
    expect(seen['claude slow']).toMatchObject({ state: 'timed_out', class: 'timeout' });
  });
});

test('a CLI that ignores TERM and one that never reads its prompt are ended anyway', async () => {
  await openWith((lane) => ({ command: lane.kind === 'claude' ? 'claude-ignores-term' : 'never-reads-its-prompt' }));
  const seen = await each({ hang: '[[sim:hang]]' });
  expect(seen['claude hang']).toMatchObject({ class: 'silence', last: { signal: 'SIGKILL' } });
  expect(seen['codex hang']).toMatchObject({ class: 'silence' });
});

test('a wrapper round the CLI that does the work hides nothing from its end', async () => {
  await openWith((lane) => (lane.kind === 'codex' ? { command: 'codex-wrapper' } : {}));
  const seen = await each({ hang: '[[sim:hang]]', fine: '[[sim:echo text=fine]]' }, ['codex']);
  expect(seen['codex hang']).toMatchObject({ class: 'silence' });
  expect(seen['codex fine']).toMatchObject({ state: 'succeeded' });
});

describe('exit codes prove nothing', () => {
  test('exit 0 with nothing, with the first 65,536 bytes, or with a failed turn is never a success', async () => {
    await openWith(undefined, 1);
    const seen = await each({
      nothing: '[[sim:nothing]]',
      cut: '[[sim:cut-at bytes=65536]]',
      failed: '[[sim:bad-request exit=0]]',
      empty: '[[sim:empty]]',
    });
    for (const vendor of ['codex', 'claude']) {
      expect(seen[`${vendor} nothing`], vendor).toMatchObject({
        state: 'failed',
        class: 'transient',
        error: { details: ['transient: its retries are used up'] },
      });
      expect(seen[`${vendor} cut`], vendor).toMatchObject({ state: 'failed', class: 'transient' });
      expect(seen[`${vendor} failed`], vendor).toMatchObject({ state: 'failed', class: 'deterministic' });
      expect(seen[`${vendor} empty`], vendor).toMatchObject({ state: 'failed', class: 'transient' });
    }
    const limited = await each({ limit: '[[sim:usage-limit exit=0]]' }, ['codex-0', 'claude-0'], {}, { waitUntil: 1 });
    for (const vendor of ['codex', 'claude'])
      expect(limited[`${vendor}-0 limit`], vendor).toMatchObject({ state: 'deferred', class: 'usage_limit' });
  });

  test('exit 1 with an answer is one, and error words in it are the agent’s', async () => {
    await openWith();
    const words =
      "You've hit your usage limit. 429 Too Many Requests; 401 Unauthorized; overloaded_error; API Error: 529";
    const seen = await each({ one: '[[sim:echo exit=1 text=fine]]', words: `[[sim:echo text="${words}"]]` });
    for (const vendor of ['codex', 'claude']) {
      expect(seen[`${vendor} one`], vendor).toMatchObject({ state: 'succeeded' });
      expect(seen[`${vendor} words`], vendor).toMatchObject({ state: 'succeeded', class: null });
      expect((await box.gate.snapshot(vendor)).closed).toBeNull();
    }
  });
});

describe('what a dead run had said', () => {
  test('is kept, marked on both sides; of a success or of silence nothing is', async () => {
    await openWith();
    const seen = await each(
      { died: '[[sim:bad-request act=1]]', silent: '[[sim:bad-request]]', well: '[[sim:echo act=1 text=fine]]' },
      undefined,
      {},
      { access: 'write' },
    );
    for (const vendor of ['codex', 'claude']) {
      expect(seen[`${vendor} died`]?.partial, vendor).toBe(
        '[incomplete output: deterministic]\nworking on it\n[incomplete output ends]',
      );
      expect(seen[`${vendor} silent`]?.partial, vendor).toBeNull();
      expect(seen[`${vendor} well`]?.partial, vendor).toBeNull();
    }
  });
});

test('a sandbox that cannot start is a fault of the box’s CLI: its lane is closed, and the work moves', async () => {
  await openWith();
  const id = await box.submit('[[codex:bwrap]]', { lane: 'codex' });
  expect((await box.ended(id)).state).toBe('succeeded');
  expect(attempts(id)).toMatchObject([
    { lane: 'codex', class: 'environment', words: expect.stringContaining('sandbox') as string },
    { lane: 'claude', class: null },
  ]);
  expect((await box.gate.snapshot('codex')).closed).toMatchObject({ reason: 'environment' });
});

test('strays of strays in sessions of their own that ignore TERM are gone when their run is delivered', async () => {
  await openWith();
  const seen = await each({ strays: '[[sim:strays count=3]]', timed: '[[sim:hang stage=tool]]' });
  expect(seen['codex strays']).toMatchObject({ state: 'succeeded' });
  expect(seen['claude strays']).toMatchObject({ state: 'succeeded' });
});

test.runIf(existsSync('/proc/self/fd'))(
  'a stray without an environment, in a session of its own, is gone too: it writes where its run wrote',
  async () => {
    await openWith((lane) => (lane.kind === 'claude' ? { command: 'claude-leaves-a-bare-stray' } : {}));
    const id = await box.submit('[[sim:echo]]', { lane: 'claude' });
    expect(await box.ended(id)).toMatchObject({ state: 'succeeded' });
    const out = await waitUntil(() =>
      ((path) => (existsSync(path) ? path : null))(join(box.stateDir, 'runs/done', `${id}.1`, 'out')),
    );
    expect(await procTable.find({ marks: [], writesTo: [out] })).toEqual([]);
  },
);

test('a judge whose answer cannot be read leaves the producer’s work as it was', async () => {
  await openWith();
  const producer = await box.submit('[[sim:echo text="the artifact"]]', { lane: 'codex' });
  await box.ended(producer);
  const schema = JSON.stringify({ type: 'object', required: ['verdict'], properties: { verdict: { type: 'string' } } });
  const judge = await box.submit(
    '[[sim:echo text="I would say that it passes."]]',
    { lane: 'claude', request: { failover: false, reviewOf: producer } as DispatchRecord['request'] },
    { schema },
  );
  expect((await box.ended(judge)).state).toBe('failed');
  expect(attempts(judge).map(({ class: cls, notes }) => [cls, notes])).toEqual([
    ['schema', []],
    ['schema', ['repair']],
  ]);
  expect(await box.records.read(producer)).toMatchObject({ state: 'succeeded', needsLook: false });
  expect(await box.records.blob(producer, 'result')).toBe('the artifact');
});
