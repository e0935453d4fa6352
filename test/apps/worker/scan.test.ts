import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AttemptReceipt, DispatchRecord } from '#contract';
import { findRun, makeRun, voidClaim } from '#runner';
import { keys } from '#store';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { openBox, type Box } from '../../support/box.js';
import { isAlive, killNow, processesWith, signal } from '../../support/processes.js';
import { pictureOf } from '../../support/picture.js';
import { testConfig } from '../../support/records.js';
import { tempFolder } from '../../support/temp.js';
import { sleep, waitUntil } from '../../support/wait-until.js';
import { newPlan } from '../../libs/runner/support.js';
import { openDesk, type Desk } from '../../libs/queue/desk.js';

let box: Box;
let desk: Desk;
const STAND_IN = new URL('../../fixtures/bin/codex', import.meta.url).pathname;
const TIMING = { sweepMs: 200, heartbeatMs: 300, killGraceMs: 500, ticketRepairMs: 500, owedRepairMs: 500 };

async function open(change: Parameters<typeof openBox>[0] = {}): Promise<void> {
  box = await openBox({ timing: TIMING, ...change });
  desk = openDesk(box.redis, box.config);
}
beforeEach(() => open());
afterEach(async () => {
  await desk.close();
  await box.close();
});

const attempts = (id: string): AttemptReceipt[] =>
  box.receipts().flatMap((line) => (line.kind === 'attempt' && line.dispatch === id ? [line] : []));

/** As a worker leaves it that dies between the script that starts and its supervisor: running, with an unclaimed folder. */
async function halfStarted(): Promise<{ id: string; folder: string }> {
  const id = await box.submit('[[sim:echo]]', { lane: 'codex' });
  const record = await desk.read(id);
  const { folder } = await makeRun(join(box.stateDir, 'runs'), {
    plan: newPlan([STAND_IN, 'exec', '--json', '-'], { dispatch: id, tier: 'balanced', cwd: box.workDir }),
    prompt: '[[sim:echo]]',
  });
  await desk.reserve('t');
  expect(await desk.start(record, 't')).toMatchObject({ answer: 'yes' });
  return { id, folder };
}

async function inOrder(): Promise<void> {
  expect(await auditIndexes(box.redis)).toEqual([]);
  expect((await auditGate(box.redis, 'codex', { records: true })).problems).toEqual([]);
}

test('a start that broke off before its claim is finished, once', async () => {
  const { id } = await halfStarted();
  await box.start();
  expect(await box.ended(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
  expect(await waitUntil(() => attempts(id)[0])).toMatchObject({ id: `${id}.1`, outcome: 'ok' });
  await inOrder();
});

test('one that was cancelled meanwhile is not: its agent never starts, and there is no attempt to report', async () => {
  const { id, folder } = await halfStarted();
  expect(await box.queue.cancel(id)).toMatchObject({ how: 'asked' });
  await box.start();
  expect(await box.ended(id)).toMatchObject({ state: 'cancelled', history: [] });
  const line = await waitUntil(() => box.receipts().find((one) => one.kind === 'dispatch' && one.id === id));
  expect(line).toMatchObject({ state: 'cancelled', attempts: 0 });
  expect(attempts(id)).toEqual([]);
  await waitUntil(() => !existsSync(folder));
  expect(box.starts()).toEqual({});
  expect((await box.gate.snapshot('codex')).reservations).toEqual([]);
  await inOrder();
});

test('one whose claim was voided goes back to the line as the same attempt', async () => {
  const { id, folder } = await halfStarted();
  await voidClaim(folder);
  await box.start();
  expect(await box.ended(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
  expect(box.starts()).toEqual({ [`${id}.1`]: 1 });
  await inOrder();
});

test('a delivery that Redis has forgotten is repeated from the folder that stands among the delivered', async () => {
  const worker = await box.start();
  const id = await box.submit('[[sim:slow seconds=1]]', { lane: 'codex' });
  await box.until(id, 'running');
  const back = await pictureOf(box.redis);
  await box.ended(id);
  await waitUntil(() => findRun(join(box.stateDir, 'runs'), `${id}.1`)?.where === 'done');
  await worker.stop({ kill: false });
  await back();
  expect(await desk.read(id)).toMatchObject({ state: 'running', attempt: 1 });
  await box.start();
  expect(await box.ended(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
  expect(box.starts()).toEqual({ [`${id}.1`]: 1 });
  expect(new Set(attempts(id).map((line) => JSON.stringify(line))).size).toBe(1);
  await inOrder();
});

test('what runs here and Redis has forgotten is said before anything is fetched', async () => {
  const id = await box.submit('[[sim:slow seconds=3]]', { lane: 'codex' });
  // Its ticket is among what comes back.
  const back = await pictureOf(box.redis);
  const first = await box.start();
  await box.until(id, 'running');
  await waitUntil(() => processesWith(`${id}.1`).length > 0);
  await first.stop({ kill: false });
  await back();
  expect(await desk.read(id)).toMatchObject({ state: 'queued', attempt: 1 });
  await box.start();
  expect(await desk.read(id)).toMatchObject({ state: 'running', attempt: 1, node: 'test-node' });
  expect((await box.gate.snapshot('codex')).reservations.map(({ id: of }) => of)).toContain(`${id}.1`);
  expect(await box.ended(id)).toMatchObject({ state: 'succeeded', attempt: 1 });
  expect(box.starts()).toEqual({ [`${id}.1`]: 1 });
  await inOrder();
});

test('an end is delivered as it was first decided, whatever the meters say when the delivery is resumed', async () => {
  const reading = (account: string, usedPercent: number): Promise<boolean> =>
    box.gate.read({
      account,
      windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent, resetsAt: Date.now() + 3_600_000, scope: null }],
      source: 'test',
      writtenAt: Date.now(),
      readAt: Date.now(),
      plan: null,
    });
  await reading('claude', 10);
  const worker = await box.start();
  // A disk that takes no line: the delivery breaks off behind its decision.
  const receipts = join(box.stateDir, 'receipts');
  rmSync(receipts, { recursive: true, force: true });
  writeFileSync(receipts, '');
  const id = await box.submit('[[codex:usage-limit]] [[claude:echo]]', { lane: 'codex' });
  const decided = join(box.stateDir, 'runs', `${id}.1`, 'receipt.json');
  await waitUntil(() => existsSync(decided), { what: 'its end to be decided' });
  await worker.stop({ kill: false });
  expect(await desk.read(id)).toMatchObject({ state: 'running', attempt: 1 });
  // By now it would be kept here: the other lane has closed too.
  await reading('claude', 99);
  rmSync(receipts);
  await box.start();
  const record = await waitUntil(async () =>
    ((now) => (now.state === 'running' && now.attempt === 1 ? null : now))(await desk.read(id)),
  );
  expect(record).toMatchObject({ state: 'queued', lane: 'claude', attempt: 2 });
  expect(await waitUntil(() => attempts(id)[0])).toMatchObject({
    class: 'usage_limit',
    next: expect.stringMatching(/^switch/) as string,
  });
});

test('a cancel whose message was lost is found by the heartbeat', async () => {
  await box.start();
  const id = await box.submit('[[sim:slow seconds=60]]', { lane: 'codex' });
  await box.until(id, 'running');
  await waitUntil(() => processesWith(`${id}.1`).length > 0);
  await box.redis.hset(keys.record(id), 'cancelAsked', '1');
  expect(await box.ended(id)).toMatchObject({ state: 'cancelled' });
  expect(processesWith(`${id}.1`)).toEqual([]);
});

test('when a supervisor is killed, also that goes which has no mark and no output of its run but is of its group', async () => {
  await desk.close();
  await box.close();
  const folder = tempFolder('bare');
  const [command, noted] = [join(folder, 'leaves-a-bare-child'), join(folder, 'pid')];
  writeFileSync(
    command,
    [
      '#!/bin/sh',
      'env -i /bin/sleep 1000000 </dev/null >/dev/null 2>&1 &',
      `echo $! >${noted}`,
      `exec ${STAND_IN} "$@"`,
      '',
    ].join('\n'),
    { mode: 0o755 },
  );
  await open({ lanes: testConfig().lanes.map((lane) => (lane.id === 'codex' ? { ...lane, command } : lane)) });
  await box.start();
  const id = await box.submit('[[sim:hang]]', {
    lane: 'codex',
    access: 'write',
    request: { failover: false } as DispatchRecord['request'],
  });
  await box.until(id, 'running');
  const run = join(box.stateDir, 'runs', `${id}.1`, 'run.json');
  await waitUntil(() => existsSync(run) && existsSync(noted) && readFileSync(noted, 'utf8') !== '');
  await sleep(100);
  const child = Number(readFileSync(noted, 'utf8'));
  expect(isAlive(child)).toBe(true);
  await killNow((JSON.parse(readFileSync(run, 'utf8')) as { pid: number }).pid);
  expect(await waitUntil(() => attempts(id)[0])).toMatchObject({ outcome: 'interrupted' });
  expect(isAlive(child)).toBe(false);
});

test('a run whose supervisor is killed while it is being cancelled is recorded as cancelled, not as interrupted', async () => {
  await box.start();
  const id = await box.submit('[[sim:hang]]', { lane: 'codex' });
  const run = join(box.stateDir, 'runs', `${id}.1`, 'run.json');
  await waitUntil(() => existsSync(run) && processesWith(`${id}.1`).length > 0);
  const { pid } = JSON.parse(readFileSync(run, 'utf8')) as { pid: number };
  // Stopped, it can't write what came of it.
  signal(pid, 'SIGSTOP');
  await box.queue.cancel(id);
  await waitUntil(() => processesWith(`${id}.1`).length === 0);
  await killNow(pid);
  expect(await box.ended(id)).toMatchObject({ state: 'cancelled', history: [{ outcome: 'cancelled' }] });
  expect(await waitUntil(() => attempts(id)[0])).toMatchObject({ outcome: 'cancelled' });
});

test("a supervisor that is stuck long past its run's deadline is ended with the run, which counts as timed out, not interrupted", async () => {
  const worker = await box.start();
  const id = await box.submit('[[sim:hang]]', {
    lane: 'codex',
    request: { failover: false, attempts: 1 } as DispatchRecord['request'],
  });
  const run = join(box.stateDir, 'runs', `${id}.1`, 'run.json');
  await waitUntil(() => existsSync(run) && processesWith(`${id}.1`).length > 0);
  const { pid } = JSON.parse(readFileSync(run, 'utf8')) as { pid: number };
  await worker.stop({ kill: false });
  // It began hours ago, and whoever had to end it then does nothing any more.
  signal(pid, 'SIGSTOP');
  const hoursAgo = new Date(Date.now() - 4 * 3_600_000);
  for (const name of ['run.json', 'claim']) utimesSync(join(run, '..', name), hoursAgo, hoursAgo);
  await box.start();
  expect(await box.ended(id)).toMatchObject({
    state: 'timed_out',
    history: [{ outcome: 'timed_out', class: 'timeout' }],
  });
  expect(await waitUntil(() => attempts(id)[0])).toMatchObject({ notes: ['ended-by-us:deadline'] });
  expect(isAlive(pid)).toBe(false);
  expect(processesWith(`${id}.1`)).toEqual([]);
});
