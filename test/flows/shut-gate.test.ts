import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { openGate } from '#gate';
import { keys, queueName } from '#store';
import { monitorCommands } from '../support/monitor.js';
import { sleep, waitUntil } from '../support/wait-until.js';
import { openFlow, untilThere, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
afterEach(() => box.close());

/**
 * A lane that looks again by itself only after a minute: what opens
 * earlier was opened by the wake, or by the reset's own time.
 */
const SELDOM = { wakeFallbackMs: 60_000 };

const refusedFor = (seconds: number) => `[[sim:usage-limit resets_in=${seconds} times=1 then=echo]]`;

async function closedBy(id: string): Promise<void> {
  await waitUntil(() => box.linesOf(id).length === 1, { what: 'the refusal to be told' });
  expect(box.linesOf(id)[0]).toMatchObject({ id: `${id}.1`, lane: 'claude', class: 'usage_limit' });
  const lane = (await box.status()).lanes.find(({ id: name }) => name === 'claude');
  expect(lane?.closed).toMatchObject({ reason: 'usage_limit' });
}

/** Dispatches in the order in which their attempts were started. */
async function startOrder(redis: Redis): Promise<string[]> {
  const events = await redis.xrange(keys.events, '-', '+');
  return events.flatMap(([, fields]) =>
    fields[fields.indexOf('event') + 1] === 'started' ? [fields[fields.indexOf('id') + 1] ?? ''] : [],
  );
}

/** What the workers of the lanes sent in that time: asking the gate, fetching tickets, looking for stalled ones. */
async function laneCommands(redis: Redis, ms: number): Promise<{ all: string[][]; fetches: string[][] }> {
  const all: string[][] = [];
  const monitor = await monitorCommands(redis, (words) => {
    const [name = ''] = words;
    const ofQueue = words.some((word) => word.startsWith(`${keys.bull}:`)) && name !== 'exists';
    if (ofQueue || words.some((word) => word.includes('"darkSlots"'))) all.push(words);
  });
  await sleep(ms);
  monitor.close();
  const queue = queueName('claude', box.settings().nodeId);
  return { all, fetches: all.filter((words) => words.includes(`${keys.bull}:${queue}:pc`)) };
}

test('a closed account holds back no finished work and fetches nothing', async () => {
  box = openFlow({ config: { timing: { ...SELDOM, lockMs: 5_000, stalledMs: 5_000 } } });
  const [goFirst, goSecond] = [join(box.folder, 'first'), join(box.folder, 'second')];
  const first = await box.submit(untilThere(goFirst), '--pin', 'claude');
  const second = await box.submit(untilThere(goSecond), '--pin', 'claude');
  await waitUntil(() => box.ledger().length === 2, { what: 'two agents to run' });
  const refused = await box.submit(refusedFor(3600), '--pin', 'claude');
  await closedBy(refused);

  writeFileSync(goFirst, '');
  expect(await box.wait(first)).toMatchObject({ ok: true });
  await box.killDaemon();
  await box.up();
  writeFileSync(goSecond, '');
  expect(await box.wait(second)).toMatchObject({ ok: true });
  expect(box.linesOf(second)[0]).toMatchObject({ outcome: 'ok', adopted: true });

  const waiting = await Promise.all([1, 2, 3].map((n) => box.submit(`${n}`, '--pin', 'claude')));
  expect((await box.cmo(['run', '--pin', 'claude'], { input: 'now or never' })).code).toBe(3);
  const seconds = 4;
  const { all, fetches } = await laneCommands(box.redis(), seconds * 1000);
  expect(fetches).toEqual([]);
  expect(all.length).toBeLessThanOrEqual(2 * seconds);
  const rows = await box.ls('--state', 'queued');
  expect(rows.map(({ id }) => id).sort()).toEqual([refused, ...waiting].sort());
  expect(rows.map(({ waiting: why }) => why?.for)).toEqual(rows.map(() => 'quota'));
  expect(box.starts()).toEqual(Object.fromEntries([first, second, refused].map((id) => [`${id}.1`, 1])));
});

test('on a closed account a bounded wait ends as deferred when its time is over, and the others wait on', async () => {
  box = openFlow();
  const refused = await box.submit(refusedFor(3600), '--pin', 'claude');
  await closedBy(refused);
  const unbounded = await box.submit('as long as it takes', '--pin', 'claude');
  const bounded = box.start(['run', '--pin', 'claude', '--max-wait', '1'], { input: 'a second at most' });
  await waitUntil(() => bounded.child.exitCode !== null, { what: 'the bounded one to give up' });
  const ran = await bounded.ended;
  expect(ran.code).toBe(3);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    state: 'deferred',
    deferred: true,
    error: { code: 'CMO_E_DEFERRED' },
  });
  expect((await box.ls('--state', 'queued')).map(({ id }) => id).sort()).toEqual([refused, unbounded].sort());
});

test('when the reset of a refusal comes, what waits starts in the order of its submission', async () => {
  box = openFlow({ config: { slots: { account: 1, node: 8, dark: 1 }, timing: SELDOM } });
  const refused = await box.submit(refusedFor(6), '--pin', 'claude');
  await closedBy(refused);
  const waiting: string[] = [];
  for (const n of [1, 2, 3, 4]) waiting.push(await box.submit(`${n}`, '--pin', 'claude'));
  for (const id of [refused, ...waiting]) expect(await box.wait(id)).toMatchObject({ ok: true });
  expect(await startOrder(box.redis())).toEqual([refused, refused, ...waiting]);
  expect(await problemsAtRest(box, [refused, ...waiting])).toEqual([]);
  expect((await box.status()).lanes.find(({ id }) => id === 'claude')?.closed).toBeNull();
});

test('when a reading says that a full window has room again, what waits starts in the order of its submission', async () => {
  box = openFlow({ config: { slots: { account: 1, node: 8, dark: 1 }, timing: SELDOM } });
  await box.up();
  const redis = box.redis();
  const gate = openGate(redis, box.settings());
  const read = (usedPercent: number): Promise<boolean> => {
    const now = Date.now();
    const window = { id: 'five_hour', kind: 'five_hour' as const, usedPercent, resetsAt: now + 3_600_000, scope: null };
    return gate.read({ account: 'codex', windows: [window], source: 'test', writtenAt: now, readAt: now, plan: null });
  };
  expect(await read(96)).toBe(true);
  const waiting: string[] = [];
  for (const n of [1, 2, 3, 4]) waiting.push(await box.submit(`${n}`, '--pin', 'codex'));
  const { fetches } = await laneCommands(redis, 1_000);
  expect(fetches).toEqual([]);
  expect(box.ledger()).toEqual([]);

  expect(await read(10)).toBe(true);
  for (const id of waiting) expect(await box.wait(id)).toMatchObject({ ok: true });
  expect(await startOrder(redis)).toEqual(waiting);
  expect(await problemsAtRest(box, waiting)).toEqual([]);
});
