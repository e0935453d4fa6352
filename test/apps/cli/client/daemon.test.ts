import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { CmoError, errorBody } from '#contract';
import { processPaths, type Paths } from '#config';
import { DaemonClient, type EnsureDaemon } from '#cli/client/daemon';
import { follow } from '#cli/client/follow';
import { clearTakenDown, isTakenDown, markTakenDown } from '#cli/client/taken-down';
import { tempFolder } from '../../../support/temp.js';
import { sleep } from '../../../support/wait-until.js';
import { data, envelope, fakeDaemon, succeeded, type FakeDaemon } from '../support/fake-daemon.js';

function fresh(): Paths {
  const folder = tempFolder('client');
  return processPaths({ HOME: folder, CMO_STATE_DIR: `${folder}/state` });
}
const list = { method: 'GET' as const, path: '/v1/dispatches' };
const never: EnsureDaemon = () => Promise.reject(new Error('it must not be started'));

test('a daemon that does not run is started once and then asked', async () => {
  const paths = fresh();
  let daemon: FakeDaemon | null = null;
  let starts = 0;
  const client = new DaemonClient(paths, async () => {
    starts++;
    daemon = await fakeDaemon(paths.state, () => data('cmo.dispatches/1', { dispatches: [] }));
    return { ok: true };
  });
  expect(await client.call({ ...list, daemon: 'start' })).toEqual({ ok: true, data: { dispatches: [] } });
  expect(starts).toBe(1);
  await (daemon as FakeDaemon | null)?.close();
});

test('one that only asks starts nothing', async () => {
  expect(await new DaemonClient(fresh(), never).call({ ...list, daemon: 'never' })).toMatchObject({
    ok: false,
    error: { code: 'CMO_E_DAEMON', message: 'the daemon does not run' },
  });
});

test('a failed start is reported at once', async () => {
  const client = new DaemonClient(fresh(), () =>
    Promise.resolve({ ok: false, error: errorBody('CMO_E_REDIS_MISSING') }),
  );
  expect(await client.call({ ...list, daemon: 'start' })).toEqual({
    ok: false,
    error: errorBody('CMO_E_REDIS_MISSING'),
  });
});

test('who waits starts a daemon that died, again and again, but only for a bounded time', async () => {
  let starts = 0;
  const client = new DaemonClient(
    fresh(),
    () => {
      starts++;
      return Promise.resolve({ ok: false, error: errorBody('CMO_E_REDIS') });
    },
    200,
  );
  expect(await client.call({ ...list, daemon: 'restart' })).toMatchObject({
    ok: false,
    error: { code: 'CMO_E_REDIS' },
  });
  expect(starts).toBeGreaterThan(1);
});

test('who waits leaves a daemon down that was taken down, while a new question brings it up', async () => {
  const paths = fresh();
  markTakenDown(paths);
  expect(await new DaemonClient(paths, never).call({ ...list, daemon: 'restart' })).toMatchObject({
    ok: false,
    error: { message: 'the daemon was taken down; agents that ran go on' },
  });
  const client = new DaemonClient(paths, () => Promise.resolve({ ok: false, error: errorBody('CMO_E_DAEMON') }));
  await client.call({ ...list, daemon: 'start' });
  expect(isTakenDown(paths)).toBe(false);
  clearTakenDown(paths);
});

test('a daemon of another protocol is replaced before it is asked again', async () => {
  const paths = fresh();
  let old: FakeDaemon | null = await fakeDaemon(paths.state, () => ({
    body: { anything: 1 },
    headers: { 'cmo-protocol': '0', 'cmo-version': '0.0.1' },
  }));
  let fresher: FakeDaemon | null = null;
  const client = new DaemonClient(paths, async () => {
    await old?.close();
    old = null;
    fresher = await fakeDaemon(paths.state, () => data('x', 'new'));
    return { ok: true };
  });
  expect(await client.call({ ...list, daemon: 'start' })).toEqual({ ok: true, data: 'new' });
  await (fresher as FakeDaemon | null)?.close();
});

test('one of another version is answered to, then asked to hand over, once', async () => {
  const paths = fresh();
  const daemon = await fakeDaemon(paths.state, () => ({
    body: { schema: 'x', ok: true, data: 'old' },
    headers: { 'cmo-version': '0.0.1' },
  }));
  let asked = 0;
  const client = new DaemonClient(paths, () => {
    asked++;
    return Promise.resolve({ ok: true });
  });
  expect(await client.call({ ...list, daemon: 'start' })).toEqual({ ok: true, data: 'old' });
  expect(await client.call({ ...list, daemon: 'start' })).toEqual({ ok: true, data: 'old' });
  expect(asked).toBe(1);
  await daemon.close();
});

test('an answer that the daemon could not have sent is reported as its error, not a crash', async () => {
  const paths = fresh();
  for (const body of [null, [], { ok: true }, { ok: false, error: { code: '__proto__' } }]) {
    const daemon = await fakeDaemon(paths.state, () => ({ body }));
    expect(await new DaemonClient(paths, never).call({ ...list, daemon: 'never' })).toMatchObject({
      ok: false,
      error: { code: 'CMO_E_DAEMON' },
    });
    await daemon.close();
  }
});

test('a daemon that hangs is given up on after its time', async () => {
  const paths = fresh();
  const daemon = await fakeDaemon(paths.state, () => 'hang');
  expect(await new DaemonClient(paths, never, 100).call({ ...list, daemon: 'never', timeoutMs: 60 })).toMatchObject({
    ok: false,
    error: { code: 'CMO_E_DAEMON' },
  });
  await daemon.close();
});

test('the time for trying again counts from the first failure, not from the question', async () => {
  const paths = fresh();
  let first = true;
  const daemon = await fakeDaemon(paths.state, async () => {
    if (!first) return data('x', 'here');
    first = false;
    await sleep(300);
    return 'cut';
  });
  expect(await new DaemonClient(paths, never, 100).call({ ...list, daemon: 'never' })).toEqual({
    ok: true,
    data: 'here',
  });
  await daemon.close();
});

test('sockets in a short folder that others may enter are never spoken to', async () => {
  const folder = tempFolder('far');
  const paths = processPaths({ HOME: folder, CMO_STATE_DIR: `/${'s'.repeat(90)}`, XDG_RUNTIME_DIR: folder });
  mkdirSync(dirname(paths.apiSocket), { mode: 0o700 });
  chmodSync(dirname(paths.apiSocket), 0o777);
  await expect(new DaemonClient(paths, never).call({ ...list, daemon: 'start' })).rejects.toThrow(CmoError);
});

test('following polls until the end, passes on what is new, and stops when asked to', async () => {
  const paths = fresh();
  const id = 'd-01JE0000000000000000000001';
  let left = 2;
  const daemon = await fakeDaemon(paths.state, () => data('cmo.dispatch/1', left-- > 0 ? envelope(id) : succeeded(id)));
  const news: string[] = [];
  const client = new DaemonClient(paths, never);
  expect(await follow(client, id, { forMs: null, pollMs: 5, onNews: ({ state }) => news.push(state) })).toMatchObject({
    kind: 'ended',
    envelope: { state: 'succeeded' },
  });
  expect(news).toEqual(['running', 'running']);
  left = Infinity;
  expect(await follow(client, id, { forMs: 0, pollMs: 5 })).toMatchObject({ kind: 'time-over' });
  expect(await follow(client, id, { forMs: null, pollMs: 5, signal: AbortSignal.abort() })).toEqual({ kind: 'left' });
  await daemon.close();
});
