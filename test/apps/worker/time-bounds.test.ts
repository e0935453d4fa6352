import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { auditIndexes } from '../../support/audit.js';
import { openBox, type Box } from '../../support/box.js';
import { processesWith } from '../../support/processes.js';
import { waitUntil } from '../../support/wait-until.js';

let box: Box;
beforeEach(async () => {
  box = await openBox({
    slots: { account: 8, node: 1, dark: 8 },
    timing: { sweepMs: 150, heartbeatMs: 300, killGraceMs: 1_000 },
  });
});
afterEach(() => box.close());

const lineOf = (id: string) =>
  waitUntil(() => box.receipts().find((line) => line.kind === 'dispatch' && line.id === id));

describe('a dispatch that waits', () => {
  test('expires when it was not started within its time, with a line and no attempt', async () => {
    const busy = await box.submit('[[sim:slow seconds=60]]');
    await box.start();
    await box.until(busy, 'running');
    const id = await box.submit('hello', { startBy: Date.now() + 400 });
    const record = await box.ended(id);
    expect(record).toMatchObject({ state: 'expired', startedAt: null, error: { code: 'CMO_E_EXPIRED' } });
    expect(record.endedAt).toBeGreaterThanOrEqual(record.startBy ?? 0);
    expect(await lineOf(id)).toMatchObject({ state: 'expired', attempts: 0 });
    expect(box.starts()).not.toHaveProperty(`${id}.1`);
    expect(await auditIndexes(box.redis)).toEqual([]);
  });

  test('ends timed_out at its deadline', async () => {
    const busy = await box.submit('[[sim:slow seconds=60]]');
    await box.start();
    await box.until(busy, 'running');
    const id = await box.submit('hello', { endBy: Date.now() + 400 });
    expect(await box.ended(id)).toMatchObject({ state: 'timed_out', history: [], error: { code: 'CMO_E_TIMED_OUT' } });
    expect(box.starts()).not.toHaveProperty(`${id}.1`);
  });

  test('is not started before its time, and is then', async () => {
    await box.start();
    const at = Date.now() + 900;
    const id = await box.submit('hello [[sim:echo]]', { notBefore: at });
    const record = await box.ended(id);
    expect(record.state).toBe('succeeded');
    expect(record.startedAt).toBeGreaterThanOrEqual(at - 5);
  });
});

describe('a dispatch that runs', () => {
  test('is ended at its deadline, however long its attempt may take, and is not run again', async () => {
    await box.start();
    const id = await box.submit('[[sim:slow seconds=60]]', { endBy: Date.now() + 1_500, access: 'read' });
    const record = await box.ended(id);
    expect(record).toMatchObject({ state: 'timed_out', error: { code: 'CMO_E_TIMED_OUT' } });
    expect(record.error?.message).toContain('--deadline');
    expect(record.history).toMatchObject([{ outcome: 'timed_out', class: 'timeout' }]);
    expect(processesWith(`${id}.1`)).toEqual([]);
    expect(box.starts()).toEqual({ [`${id}.1`]: 1 });
  });

  test('that would be tried again only after its deadline ends at once', async () => {
    await box.start();
    const id = await box.submit('[[sim:server-error]]', {
      endBy: Date.now() + 1_800,
      access: 'read',
      request: { id: '', cwd: box.workDir, hasSchema: false, envNames: [], failover: false },
    });
    const record = await box.ended(id);
    expect(record.state).toBe('timed_out');
    expect(record.history).toHaveLength(1);
    expect(record.endedAt).toBeLessThan(record.endBy ?? 0);
  });
});
