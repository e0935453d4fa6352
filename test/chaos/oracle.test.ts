import { spawn } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { keys } from '#store';
import { openFlow, type FlowBox } from '../flows/flow-box.js';
import { problemsAtRest } from '../flows/oracle.js';
import { killNow } from '../support/processes.js';
import { newId } from '../support/records.js';
import { Audits } from './audits.js';
import { Work } from './work.js';
import { seeded } from '../support/seeded.js';
import { waitUntil } from '../support/wait-until.js';

/**
 * The oracle has teeth: each fault that the chaos looks for is made by hand on a box at rest, found, and mended again.
 */
let box: FlowBox;
let redis: Redis;
let ids: string[];
beforeAll(async () => {
  box = openFlow();
  ids = [
    await box.submit('[[sim:echo]]', '--pin', 'codex'),
    await box.submit('[[sim:empty times=1 then=echo]]', '--role', 'research'),
  ];
  for (const id of ids) await box.wait(id);
  redis = box.redis();
  expect(await problemsAtRest(box, ids)).toEqual([]);
  // Nothing is mended behind our back, and no daemon fills what we take away.
  await box.killDaemon();
});
afterAll(() => box.close());

const mend: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of mend.splice(0)) await undo();
  expect(await problems()).toEqual([]);
});
const problems = (): Promise<string[]> => problemsAtRest(box, ids, { forMs: 0 });
const first = (): string => ids[0] ?? '';

/** Puts a file back as it is now. */
function keep(file: string): void {
  const was = readFileSync(file);
  mend.push(() => writeFileSync(file, was));
}

function receiptsFile(): string {
  const folder = join(box.stateDir, 'receipts');
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? '');
}

test('a CLI that was started twice for one attempt', async () => {
  const ledger = join(box.folder, 'ledger.jsonl');
  keep(ledger);
  const line = readFileSync(ledger, 'utf8')
    .split('\n')
    .find((text) => text.includes(`"${first()}.1"`) && text.includes('"start"'));
  appendFileSync(ledger, `${line ?? ''}\n`);
  expect(await problems()).toEqual([`${first()}.1 was started 2 times`]);
});

test('a CLI that was started without a claim', async () => {
  const ledger = join(box.folder, 'ledger.jsonl');
  keep(ledger);
  appendFileSync(
    ledger,
    `${JSON.stringify({ event: 'start', cli: 'codex', attempt: `${first()}.9`, pid: 1, at: 1, cwd: '/', argv: [] })}\n`,
  );
  expect(await problems()).toContain(`${first()}.9 was started without a claimed folder`);
});

test('a dispatch that was acknowledged and is lost', async () => {
  const lost = newId();
  expect(await problemsAtRest(box, [...ids, lost], { forMs: 0 })).toEqual([
    `${lost} is among the dispatches, not among the dispatch lines`,
  ]);
  const work = new Work(box, seeded(1));
  work.known.set(lost, { name: 'quick', prompt: '', role: 'research' });
  expect(work.surprises([])).toEqual([`${lost} was acknowledged and is not on record`]);
});

test('a dispatch whose record is gone from Redis', async () => {
  const was = await redis.dumpBuffer(keys.record(first()));
  await redis.del(keys.record(first()));
  mend.push(() => redis.restore(keys.record(first()), 0, was ?? ''));
  expect((await problems()).join('\n')).toContain(`${keys.state('succeeded')} still has ${first()}`);
});

test('a line that is missing, and two that contradict each other', async () => {
  const file = receiptsFile();
  keep(file);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const mine = lines.find((line) => line.includes(`"${first()}.1"`) && line.includes('"kind":"attempt"')) ?? '';
  writeFileSync(file, `${lines.filter((line) => line !== mine).join('\n')}\n`);
  expect(await problems()).toContain(`${first()}.1 is among the claimed folders, not among the attempt lines`);
  writeFileSync(file, `${[...lines, mine.replace('"outcome":"ok"', '"outcome":"failed"')].join('\n')}\n`);
  expect((await problems()).join('\n')).toContain(`two lines of attempt ${first()}.1 contradict each other`);
});

test('a reservation that is left over, and a sum that drifted', async () => {
  const { reservations, leases, sums } = keys.gate('codex');
  await redis.hset(
    reservations,
    `${first()}.1`,
    JSON.stringify({ st: 'bound', cost: { five_hour: 1000 }, lane: 'codex', node: 'n' }),
  );
  await redis.zadd(leases, Date.now() + 60_000, `${first()}.1`);
  await redis.hincrby(sums, 'inflight', 1);
  await redis.hincrby(sums, 'lane:codex', 1);
  await redis.hincrby(sums, 'w:five_hour', 1000);
  mend.push(async () => {
    await redis.hdel(reservations, `${first()}.1`);
    await redis.zrem(leases, `${first()}.1`);
    for (const [field, by] of [
      ['inflight', -1],
      ['lane:codex', -1],
      ['w:five_hour', -1000],
    ] as const)
      await redis.hincrby(sums, field, by);
  });
  expect(await problems()).toEqual([
    expect.stringMatching(/is bound and its record says succeeded/),
    `${first()}.1 still holds a reservation: bound`,
  ]);
  // While it lasts, the audit that goes on all the time sees it as well.
  const audits = new Audits(box.redis(), ['codex'], 8);
  await waitUntil(() => audits.problems.size > 0);
  await audits.end();
  await redis.hincrby(sums, 'inflight', 1);
  mend.push(() => redis.hincrby(sums, 'inflight', -1));
  expect((await problems()).join('\n')).toContain('counts 2 for inflight, not 1');
});

test('a process that outlived its attempt', async () => {
  const left = spawn('sleep', ['1000'], { env: { ...process.env, CMO_ATTEMPT: `${first()}.1` }, stdio: 'ignore' });
  mend.push(() => killNow(left.pid ?? 0));
  await waitUntil(() => box.marked(first()).length > 0);
  expect(await problems()).toEqual([
    expect.stringMatching(new RegExp(`process ${left.pid ?? ''} outlived ${first()}.1`)),
  ]);
});

test('a folder that nobody delivered', async () => {
  const [done, live] = [join(box.paths.runs, 'done', `${first()}.1`), join(box.paths.runs, `${first()}.1`)];
  renameSync(done, live);
  mend.push(() => renameSync(live, done));
  expect(await problems()).toEqual([`the folder of ${first()}.1 was not delivered`]);
});
