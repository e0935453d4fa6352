import { afterEach, expect, test } from 'vitest';
import type { DispatchRecord } from '#contract';
import { openControls } from '#gate';
import { keys } from '#store';
import { openBox, type Box } from '../../support/box.js';
import { waitUntil } from '../../support/wait-until.js';

let box: Box;
afterEach(() => box.close());

const WORK = 100;
const TIMES = 12;

/** As a refusal without a stated reset leaves it: each closing is an event of its own. */
async function close(account: string): Promise<void> {
  const { closed, flags } = keys.gate(account);
  const number = await box.redis.hincrby(flags, 'closings', 1);
  await box.redis.hset(closed, {
    til: Date.now() + 600_000,
    reason: 'usage_limit',
    n: 1,
    canary: '1',
    at: Date.now(),
    stated: '0',
    number,
  });
  await box.redis.publish(keys.channels.wake, account);
}

async function open(account: string): Promise<void> {
  await box.redis.del(keys.gate(account).closed);
  await box.redis.publish(keys.channels.wake, account);
}

test(`${WORK} dispatches that ${TIMES} windows in turn kept from starting: no attempt is counted, none is lost, and each class starts in the order in which it came`, async () => {
  box = await openBox({ timing: { wakeFallbackMs: 300 } });
  const controls = openControls(box.redis, box.config);
  // A lane that is open has no place, so that work moves to it and starts nowhere.
  for (const account of ['codex', 'claude']) await controls.setSlots('account', account, 0);
  const ids: string[] = [];
  for (let i = 0; i < WORK; i += 1) {
    const of = (['normal', 'batch', 'interactive'] as const)[i % 3] ?? 'normal';
    ids.push(
      await box.submit(`${i} [[sim:echo]]`, {
        class: of,
        lane: 'codex',
        request: {
          id: '',
          cwd: box.workDir,
          hasSchema: false,
          envNames: [],
          ...(of === 'batch' && { batch: 'night' }),
        },
      }),
    );
  }
  const records = async (): Promise<DispatchRecord[]> =>
    (await Promise.all(ids.map((id) => box.records.read(id)))).flatMap((record) => (record ? [record] : []));
  const tags = new Map((await records()).map(({ id, tag }) => [id, tag]));
  await box.start();

  for (let time = 0; time < TIMES; time += 1) {
    const [from, to] = time % 2 === 0 ? ['codex', 'claude'] : ['claude', 'codex'];
    await open(to ?? '');
    await close(from ?? '');
    await waitUntil(async () => (await records()).every(({ lane }) => lane === to), {
      what: `all to have moved for the ${time + 1}. time`,
      everyMs: 100,
    });
  }
  const parked = await records();
  // The number that the next start will bear grows, so that tickets
  // of before are stale; what was started is the history.
  expect(parked.map(({ state, attempt, history }) => [state, attempt, history.length])).toEqual(
    ids.map(() => ['queued', TIMES + 1, 0]),
  );
  for (const { id, tag, decision } of parked) {
    expect(tag, id).toBe(tags.get(id));
    expect(
      decision.notes.filter((note) => note.startsWith('rerouted:')),
      id,
    ).toHaveLength(TIMES);
  }
  expect(box.starts()).toEqual({});

  await controls.setSlots('account', 'codex', 1);
  for (const id of ids) expect(await box.ended(id)).toMatchObject({ state: 'succeeded', history: [{ outcome: 'ok' }] });
  expect(box.starts()).toEqual(Object.fromEntries(ids.map((id) => [`${id}.${TIMES + 1}`, 1])));
  await waitUntil(() => box.receipts().filter(({ kind }) => kind === 'dispatch').length === WORK, {
    what: 'all lines',
  });
  for (const line of box.receipts())
    if (line.kind === 'dispatch') expect(line).toMatchObject({ attempts: 1, retried: false, failures: [] });
  const field = (fields: string[], name: string): string => fields[fields.indexOf(name) + 1] ?? '';
  const started = (await box.redis.xrange(keys.events, '-', '+')).flatMap(([, fields]) =>
    field(fields, 'event') === 'started' ? [field(fields, 'id')] : [],
  );
  for (const n of [0, 1, 2]) {
    const ofClass = ids.filter((_, i) => i % 3 === n);
    expect(
      started.filter((id) => ofClass.includes(id)),
      `class ${n}`,
    ).toEqual(ofClass);
  }
}, 180_000);
