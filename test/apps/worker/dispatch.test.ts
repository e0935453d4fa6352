import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openBox, type Box } from '../../support/box.js';
import { processesWith } from '../../support/processes.js';
import { waitUntil } from '../../support/wait-until.js';

let box: Box;
beforeEach(async () => {
  box = await openBox({ timing: { sweepMs: 200, heartbeatMs: 300, killGraceMs: 1_000 } });
});
afterEach(() => box.close());

const linesOf = (id: string) => box.receipts().filter((line) => line.id === id || line.id.startsWith(`${id}.`));

describe('a dispatch', () => {
  test('is started once, answers, and leaves one attempt line and one dispatch line', async () => {
    await box.start();
    const id = await box.submit('hello [[sim:echo]]');
    const record = await box.ended(id);
    expect(record.state).toBe('succeeded');
    expect(await box.records.blob(id, 'result')).toContain('hello');
    expect(box.starts()).toEqual({ [`${id}.1`]: 1 });
    const lines = await waitUntil(() => (linesOf(id).length === 2 ? linesOf(id) : null));
    expect(lines.map((line) => line.kind)).toEqual(['attempt', 'dispatch']);
    expect(lines[0]).toMatchObject({ id: `${id}.1`, lane: 'codex', outcome: 'ok', class: null });
    expect(lines[1]).toMatchObject({ id, ok: true, provider: 'codex', attempts: 1, answeredBy: `${id}.1` });
    await waitUntil(async () => (await box.gate.snapshot('codex')).inFlight === 0);
  });

  test('that meets a spent window ends on the other lane, and the account is closed until the stated reset', async () => {
    await box.start();
    const id = await box.submit('[[sim:usage-limit resets_in=3600]]', { lane: 'codex', access: 'write' });
    await box.until(id, 'running').catch(() => null);
    const moved = await waitUntil(async () => {
      const record = await box.records.read(id);
      return record && record.attempt > 1 ? record : null;
    });
    expect(moved.history[0]).toMatchObject({ lane: 'codex', class: 'usage_limit', outcome: 'failed' });
    const closed = (await box.gate.snapshot('codex')).closed;
    expect(closed?.until).toBeGreaterThan(Date.now() + 3_000_000);
    // The marker refuses on claude as well: both are closed now, and the dispatch waits in line for a window.
    const waiting = await waitUntil(async () => {
      const record = await box.records.read(id);
      return record?.history.length === 2 && record.state === 'queued' ? record : null;
    });
    expect(waiting.history[1]).toMatchObject({ lane: 'claude', class: 'usage_limit' });
  });

  test('that is cancelled while it runs ends with its whole tree', async () => {
    await box.start();
    const id = await box.submit('[[sim:slow seconds=60]]');
    await box.until(id, 'running');
    await waitUntil(() => processesWith(`${id}.1`).length > 0);
    expect(await box.queue.cancel(id)).toMatchObject({ how: 'asked' });
    const record = await box.ended(id);
    expect(record.state).toBe('cancelled');
    expect(processesWith(`${id}.1`)).toEqual([]);
    const lines = await waitUntil(() => (linesOf(id).length === 2 ? linesOf(id) : null));
    expect(lines[0]).toMatchObject({ outcome: 'cancelled' });
  });

  test('that is cancelled in the queue leaves a dispatch line and no attempt', async () => {
    const id = await box.submit('[[sim:echo]]');
    await box.queue.cancel(id);
    await box.start();
    const lines = await waitUntil(() => (linesOf(id).length > 0 ? linesOf(id) : null), { timeoutMs: 20_000 });
    expect(lines).toMatchObject([{ kind: 'dispatch', state: 'cancelled', attempts: 0 }]);
    expect(box.starts()).toEqual({});
  });
});

test('a worker that is handed over leaves its agents alone, and the next one adopts and delivers them', async () => {
  const first = await box.start();
  const id = await box.submit('kept [[sim:slow seconds=2]]');
  await box.until(id, 'running');
  await waitUntil(() => processesWith(`${id}.1`).length > 0);
  await first.stop({ kill: false });
  expect(processesWith(`${id}.1`).length).toBeGreaterThan(0);
  await box.start();
  expect((await box.ended(id)).state).toBe('succeeded');
  expect(box.starts()).toEqual({ [`${id}.1`]: 1 });
});

test('a worker stops while Redis is away, and its agents go on', async () => {
  const worker = await box.start();
  const id = await box.submit('kept [[sim:slow seconds=15]]');
  await box.until(id, 'running');
  await waitUntil(() => processesWith(`${id}.1`).length > 0);
  await box.server.kill();
  await worker.stop({ kill: false });
  expect(processesWith(`${id}.1`).length).toBeGreaterThan(0);
  await box.server.start();
  await box.start();
  expect((await box.ended(id)).state).toBe('succeeded');
  expect(box.starts()).toEqual({ [`${id}.1`]: 1 });
});
