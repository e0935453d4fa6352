import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitUntil } from '../support/wait-until.js';
import { openFlow, type FlowBox } from './flow-box.js';

/** Pausing, draining and changing how much runs at once, on the built programs. */
let box: FlowBox;
beforeEach(() => {
  box = openFlow();
});
afterEach(() => box.close());

const slow = (seconds: number): string => `work [[sim:slow seconds=${seconds}]]`;
const state = async (id: string): Promise<string> => (await box.show(id)).record.state;
const said = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await box.cmo(args);
  if (code !== 0) throw new Error(`cmo ${args.join(' ')}: ${code ?? ''} ${stderr}`);
  return stdout;
};

test('a paused lane starts nothing: pinned work waits and says why, other work takes the other lane, and after the pause both go on', async () => {
  const running = await box.submit(slow(2), '--role', 'research', '--pin', 'codex');
  await waitUntil(async () => (await state(running)) === 'running');
  expect(await said('pause', 'codex', '--reason', 'I need it')).toContain(
    'lane codex, until `cmo resume codex`: I need it',
  );

  const pinned = await box.submit('pinned [[sim:echo]]', '--role', 'research', '--pin', 'codex');
  const free = await box.run('free [[sim:echo]]', '--role', 'research');
  expect(free).toMatchObject({ ok: true, lane: 'claude' });
  expect(await box.wait(running)).toMatchObject({ ok: true, lane: 'codex' });
  expect((await box.show(pinned)).waiting).toMatchObject({ why: 'lane codex is paused: I need it' });
  expect(await said('status')).toMatch(/^paused .*I need it/m);
  expect(await said('doctor', '--only', 'daemon')).toMatch(
    /^warn +daemon:held +paused lane codex, .*I need it.*\n +fix: `cmo resume codex`$/m,
  );

  expect(await said('resume', 'claude')).toMatch(/^claude was not paused\npaused {3}lane codex, .*I need it/);
  expect(await said('resume', 'codex')).toMatch(/^resumed {2}lane codex, which was paused for \S+: I need it\n$/);
  expect(await box.wait(pinned)).toMatchObject({ ok: true, lane: 'codex' });
  expect(await said('resume', '--all')).toBe('nothing was paused or drained here\n');
});

test('slots tells every number that counts and whose word it is; down tells what it leaves behind', async () => {
  await box.up();
  expect(await said('slots', '--account', 'codex=3')).toMatch(
    /^slots {4}account codex: 3 at once, set by hand\nslots {4}account claude: 8 at once, by the configuration\n/,
  );
  expect(await said('slots')).toMatch(
    /^slots {4}each account while its meter is dark: 8 at once, by the configuration$/m,
  );
  await said('pause', '--all', '--reason', 'moving');
  await box.submit('later [[sim:echo]]', '--role', 'research');
  expect(await said('down')).toMatch(/ is down; agents that run go on \(1 waiting\): `cmo up`, or the next command /);
});

test('work that waits in a lane moves when that lane is paused', async () => {
  await box.up();
  await said('slots', '--lane', 'codex=0');
  const id = await box.submit('work [[sim:echo]]', '--role', 'research');
  expect((await box.show(id)).record.lane).toBe('codex');
  await said('pause', 'codex', '--reason', 'I need it');
  expect(await box.wait(id)).toMatchObject({ ok: true, lane: 'claude' });
});

test('everything paused: run defers with exit 3, and a pause with a time ends by itself', async () => {
  await box.up();
  await said('pause', '--all', '--reason', 'moving', '--until', '2s');
  const { code, stderr } = await box.cmo(['run', '--human', '--role', 'research'], { input: 'now [[sim:echo]]' });
  expect([code, /--max-wait/.test(stderr)]).toEqual([3, false]);
  expect(stderr).toContain('`cmo resume --all`');
  const id = await box.submit('later [[sim:echo]]', '--role', 'research');
  expect(await box.wait(id)).toMatchObject({ ok: true });
});

test('drain returns when nothing runs; the box stays drained over a restart, and resume brings the queue back', async () => {
  const running = await box.submit(slow(2), '--role', 'research');
  await waitUntil(async () => (await state(running)) === 'running');
  const short = await box.cmo(['drain', '--reason', 'a new disk', '--timeout', '200ms']);
  expect([short.code, short.stderr.includes('the box stays drained')]).toEqual([7, true]);
  const waiting = await box.submit('next [[sim:echo]]', '--role', 'research');
  expect(await said('drain', '--reason', 'a new disk')).toContain('nothing runs on this box');
  expect([await state(running), await state(waiting)]).toEqual(['succeeded', 'queued']);

  await said('down');
  await box.up();
  expect(await said('status')).toMatch(/^drained .*a new disk/m);
  expect(await said('doctor', '--only', 'daemon')).toMatch(
    /^warn +daemon:held +drained .*\n +fix: `cmo resume --all`, typed on /m,
  );
  expect((await box.show(waiting)).waiting?.why).toContain('a new disk');
  expect(await state(waiting)).toBe('queued');
  await said('resume', '--all');
  expect(await box.wait(waiting)).toMatchObject({ ok: true });
});

test('slots change while agents run: the peak follows what was set', async () => {
  await box.up();
  await said('slots', '--account', 'codex=1', '--account', 'claude=1');
  const ids = await Promise.all(
    Array.from({ length: 6 }, () => box.submit(slow(1), '--role', 'research', '--pin', 'codex')),
  );
  await waitUntil(() => box.peak() === 1);
  await waitUntil(async () => (await box.ls('--state', 'succeeded')).length >= 1);
  expect(box.peak()).toBe(1);
  await said('slots', '--account', 'codex=3');
  await Promise.all(ids.map((id) => box.wait(id)));
  expect(box.peak()).toBe(3);
});

test('slots of the node count for this box and for all lanes', async () => {
  await box.up();
  const node = (await box.status()).node;
  await said('slots', '--node', `${node}=1`);
  const ids = await Promise.all(
    ['codex', 'claude', 'codex', 'claude'].map((lane) => box.submit(slow(0.5), '--role', 'research', '--pin', lane)),
  );
  await Promise.all(ids.map((id) => box.wait(id)));
  expect(box.peak()).toBe(1);
  await said('slots', '--node', `${node}=default`);
  expect((await box.status()).control.slots).toEqual([]);
});

test('a wrong lane is named with the nearest right one, and nothing is paused without a reason', async () => {
  const wrong = await box.cmo(['pause', 'codx', '--reason', 'x']);
  expect([wrong.code, wrong.stderr.includes('nearest: codex')]).toEqual([2, true]);
  expect((await box.cmo(['pause', 'codex'])).code).toBe(2);
  expect((await box.cmo(['pause', '--reason', 'x'])).code).toBe(2);
  expect((await box.cmo(['slots', '--account', 'codx=3'])).code).toBe(2);
  expect((await box.status()).control).toEqual({ pauses: [], drains: [], slots: [] });
});
