import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DispatchRecord } from '#contract';
import { openControls } from '#gate';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { openBox, type Box } from '../../support/box.js';
import { testConfig } from '../../support/records.js';
import { waitUntil } from '../../support/wait-until.js';

let box: Box;
beforeEach(async () => {
  box = await openBox({ timing: { sweepMs: 150, heartbeatMs: 300, wakeFallbackMs: 300, killGraceMs: 1_000 } });
});
afterEach(async () => {
  expect(await auditIndexes(box.redis)).toEqual([]);
  expect((await auditGate(box.redis, 'codex', { records: true })).problems).toEqual([]);
  await box.close();
});

async function reads(account: string, usedPercent: number, resetsAt: number): Promise<void> {
  const now = Date.now();
  await box.gate.read({
    account,
    windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent, resetsAt, scope: null }],
    source: 'test',
    writtenAt: now,
    readAt: now,
    plan: null,
  });
}
const read = async (id: string): Promise<DispatchRecord> => {
  const record = await box.records.read(id);
  if (!record) throw new Error(`no ${id}`);
  return record;
};
const onLane = (id: string, lane: string): Promise<DispatchRecord> =>
  waitUntil(async () => ((await read(id)).lane === lane ? read(id) : null), { what: `${id} to be on ${lane}` });
/** Long enough for several refusals and passes. */
const someTime = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 4_000));

describe('work that waits in a lane whose window is full', () => {
  test('moves once for that event: it is not offered the lane again while the event is on, and is when it is over', async () => {
    const reset = Date.now() + 9_000;
    await reads('codex', 99, reset);
    const controls = openControls(box.redis, box.config);
    await controls.setSlots('account', 'claude', 0);
    const id = await box.submit('work [[sim:echo]]', { lane: 'codex' });
    const before = await read(id);
    await box.start();
    const moved = await onLane(id, 'claude');
    expect(moved).toMatchObject({
      attempt: 2,
      tag: before.tag,
      history: [],
      left: [{ lane: 'codex', event: `codex/five_hour/${reset}`, until: reset }],
    });
    expect(moved.decision.notes).toContain('rerouted:codex:five_hour');

    // Now the other way round: claude is full, and codex has room.
    await reads('claude', 99, Date.now() + 3_600_000);
    await reads('codex', 5, reset);
    await controls.setSlots('account', 'claude', null);
    await someTime();
    expect(await read(id)).toMatchObject({ lane: 'claude', attempt: 2, state: 'queued' });

    const ended = await box.ended(id);
    expect(Date.now()).toBeGreaterThan(reset);
    expect(ended).toMatchObject({ state: 'succeeded', lane: 'codex', attempt: 3 });
    expect(ended.decision.notes).toEqual(
      expect.arrayContaining(['rerouted:codex:five_hour', 'rerouted:claude:five_hour']),
    );
    const line = await waitUntil(() => box.receipts().find(({ kind }) => kind === 'dispatch'));
    expect(line.notes).toEqual(ended.decision.notes);
  }, 40_000);

  test('stays when it was pinned to the lane, may not leave it, or must be graded by another vendor', async () => {
    await reads('codex', 99, Date.now() + 3_600_000);
    await reads('claude', 5, Date.now() + 3_600_000);
    const request = (more: Partial<DispatchRecord['request']>): Pick<DispatchRecord, 'request'> => ({
      request: { id: '', cwd: box.workDir, hasSchema: false, envNames: [], ...more },
    });
    const ids = [
      await box.submit('a [[sim:echo]]', { lane: 'codex', ...request({ pin: 'codex' }) }),
      await box.submit('b [[sim:echo]]', { lane: 'codex', ...request({ failover: false }) }),
      await box.submit('c [[sim:echo]]', {
        lane: 'codex',
        ...request({ role: 'judge', independentOf: 'claude', strictIndependence: true }),
      }),
    ];
    const free = await box.submit('free [[sim:echo]]', { lane: 'codex' });
    await box.start();
    expect(await box.ended(free)).toMatchObject({ state: 'succeeded', lane: 'claude' });
    await someTime();
    for (const id of ids)
      expect(await read(id)).toMatchObject({ lane: 'codex', attempt: 1, state: 'queued', left: [] });
  }, 30_000);

  test('ends as deferred when its --max-wait is over, even while the node is full and no worker asks the gate', async () => {
    await box.close();
    box = await openBox({
      slots: { account: 8, node: 1, dark: 8 },
      timing: { sweepMs: 150, heartbeatMs: 300, killGraceMs: 1_000 },
    });
    const busy = await box.submit('[[sim:slow seconds=60]]', { lane: 'claude' });
    await box.start();
    await box.until(busy, 'running');
    await reads('codex', 99, Date.now() + 3_600_000);
    await reads('claude', 99, Date.now() + 3_600_000);
    const id = await box.submit('work [[sim:echo]]', { lane: 'codex', waitUntil: Date.now() + 800 });
    const patient = await box.submit('work [[sim:echo]]', { lane: 'codex' });
    const record = await box.ended(id);
    expect(record).toMatchObject({ state: 'deferred', error: { code: 'CMO_E_DEFERRED' } });
    expect(record.endedAt).toBeGreaterThanOrEqual((record.waitUntil ?? 0) - 5);
    expect((await read(patient)).state).toBe('queued');
  }, 30_000);
});

describe('work that was running when its lane refused it', () => {
  test('records that it left until the stated reset', async () => {
    await box.start();
    const id = await box.submit('[[codex:usage-limit resets_in=3600]]', { lane: 'codex', access: 'read' });
    const record = await box.ended(id);
    expect(record).toMatchObject({ state: 'succeeded', lane: 'claude' });
    const closed = (await box.gate.snapshot('codex')).closed;
    expect(record.left).toEqual([
      { lane: 'codex', event: `codex/usage_limit/${closed?.until ?? 0}`, until: closed?.until },
    ]);
    expect(record.decision.notes).toContain('rerouted:codex:usage_limit');
  });

  test('records that it left by the closing’s number if no reset was stated, and may come back when that closing is over', async () => {
    await box.start();
    const id = await box.submit('[[codex:rate-limit]]', { lane: 'codex', access: 'read' });
    const record = await box.ended(id);
    const closed = (await box.gate.snapshot('codex')).closed;
    expect(record.left).toEqual([
      { lane: 'codex', event: `codex/closing/${closed?.number ?? 0}`, closing: closed?.number },
    ]);
  });
});

test('strictly independent work waits for its window, whether waiting or running, although another account of the same vendor has room', async () => {
  await box.close();
  const lanes = testConfig().lanes.flatMap((lane) =>
    lane.id === 'claude' ? [lane, { ...lane, id: 'claude-b', account: 'claude-b' }] : [lane],
  );
  box = await openBox({ lanes, timing: { sweepMs: 150, heartbeatMs: 300, wakeFallbackMs: 300, killGraceMs: 1_000 } });
  const judge = (strictIndependence: boolean): Pick<DispatchRecord, 'request'> => ({
    request: {
      id: '',
      cwd: box.workDir,
      hasSchema: false,
      envNames: [],
      role: 'judge',
      independentOf: 'codex',
      strictIndependence,
    },
  });
  await box.start();
  const refused = '[[claude:usage-limit times=1 then=echo]]';
  const ran = await box.submit(refused, { lane: 'claude', ...judge(true) });
  expect(
    await waitUntil(async () => ((now) => (now.attempt === 2 && now.state === 'queued' ? now : null))(await read(ran))),
  ).toMatchObject({ lane: 'claude', history: [{ class: 'usage_limit' }] });
  const waits = await box.submit('[[sim:echo]]', { lane: 'claude', ...judge(true) });
  // The same that is not strict moves.
  const free = await box.submit('[[sim:echo]]', { lane: 'claude', ...judge(false) });
  expect(await box.ended(free)).toMatchObject({ state: 'succeeded', lane: 'claude-b' });
  for (const id of [ran, waits]) expect(await read(id)).toMatchObject({ lane: 'claude', state: 'queued', left: [] });
}, 30_000);

test('a dispatch asks only once for a model that its vendor does not offer: other models of the lane come next, then the other lane', async () => {
  await box.start();
  const id = await box.submit('[[sim:no-model]]', { lane: 'codex', access: 'read' });
  expect(await box.ended(id)).toMatchObject({ state: 'failed' });
  const asked = box
    .receipts()
    .flatMap((line) => (line.kind === 'attempt' && line.dispatch === id ? [[line.lane, line.model, line.class]] : []));
  expect(asked.map(([, , cls]) => cls)).toEqual(asked.map(() => 'model_unavailable'));
  expect(new Set(asked.map(([lane, model]) => `${lane}/${model}`)).size).toBe(asked.length);
  const lanes = asked.map(([lane]) => lane);
  expect(lanes).toEqual([...lanes].sort((one, other) => (one === other ? 0 : one === 'codex' ? -1 : 1)));
  expect(new Set(lanes)).toEqual(new Set(['codex', 'claude']));
  expect(lanes.filter((lane) => lane === 'codex').length).toBeGreaterThan(1);
}, 60_000);
