import { cpSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Envelope } from '#contract';
import type { Started } from '../support/cmo.js';
import { isAlive } from '../support/processes.js';
import { buildPackage, replacePackage } from '../support/package.js';
import { serviceTools } from '../support/service-tools.js';
import { sleep, waitUntil } from '../support/wait-until.js';
import { openFlow, untilThere, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

const OLD = '9.9.8';
const NEXT = '9.9.9';
let before: string;
let after: string;
beforeAll(() => {
  before = buildPackage(OLD);
  after = buildPackage(NEXT);
});

let box: FlowBox;
let installed: string;
let file: (name: string) => string;
beforeEach(async () => {
  box = openFlow({
    program: (folder) => join(folder, 'lib/cmo/dist/cmo.cjs'),
    config: { slots: { account: 2, node: 8, dark: 8 } },
  });
  installed = join(box.folder, 'lib/cmo');
  file = (name) => join(box.folder, name);
  await replacePackage(installed, before);
});
afterEach(() => box.close());

const started = (): string[] =>
  box.ledger().flatMap(({ event, attempt }) => (event === 'start' ? [attempt.split('.')[0] ?? ''] : []));
/** Beside the three of its standard streams, a client that waits has a socket to the daemon. */
function isAsking({ pid }: Started): boolean {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return links.filter((link) => link.startsWith('socket:')).length > 3;
}
const ended = (id: string): boolean => box.dispatchLines(id).length > 0;

test('when the package is replaced while agents run and others wait, the old daemon works on without its files, the new one takes over, and nothing fails', async () => {
  // This client starts the daemon, so it holds the old version's way to start one, and it lives through the update.
  const attended = box.start(['run', '--pin', 'codex'], { input: untilThere(file('go'), 'attended') });
  await waitUntil(() => started().length === 1, { what: 'the first agent' });
  const second = await box.submit(untilThere(file('go-2'), 'second'), '--pin', 'codex');
  await waitUntil(() => started().length === 2, { what: 'both agents to run' });
  const echo = await box.submit('[[sim:echo text="without any file"]]', '--pin', 'codex');
  const third = await box.submit(untilThere(file('go-3'), 'third'), '--pin', 'codex');
  const last = await box.submit('[[sim:echo text="by the new one"]]', '--pin', 'codex');
  // These came when the daemon was up, and have nothing of that loaded.
  const waiting = [third, last].map((id) => box.start(['wait', id]));
  await waitUntil(() => waiting.every(isAsking), { what: 'both clients to ask' });
  const old = box.daemon();
  const chunks = readdirSync(join(installed, 'dist/chunks'));

  await replacePackage(installed, after, async () => {
    writeFileSync(file('go-2'), '');
    await waitUntil(() => ended(second) && ended(echo) && started().includes(third), {
      what: 'what waits to run without any file of the package',
    });
    expect(box.daemon()).toBe(old);
  });
  expect(readdirSync(join(installed, 'dist/chunks'))).not.toEqual(chunks);

  expect(await box.cmo(['ls'])).toMatchObject({ code: 0, stderr: '' });
  const { version, pid } = await box.status();
  expect([version, pid === old, isAlive(old)]).toEqual([NEXT, false, false]);
  const doctor = await box.cmo(['doctor', '--json', '--only', 'daemon']);
  expect(JSON.parse(doctor.stdout)).toMatchObject({ data: { rows: [{ id: 'daemon', status: 'ok' }], warnings: 0 } });
  expect((await box.cmo(['--version'])).stdout).toBe(`${NEXT}\n`);
  expect(started()).toHaveLength(4);

  writeFileSync(file('go'), '');
  writeFileSync(file('go-3'), '');
  const ran = await attended.ended;
  expect(ran).toMatchObject({ code: 0 });
  const first = JSON.parse(ran.stdout) as Envelope;
  expect(first.result).toContain('attended');
  const ids = [first.dispatchId, second, echo, third, last];
  for (const id of ids) expect(await box.wait(id)).toMatchObject({ ok: true, state: 'succeeded' });
  for (const one of waiting) expect(await one.ended).toMatchObject({ code: 0, stderr: '' });
  // The clients of the old version asked the new daemon for its answer, and not to leave.
  expect(box.daemon()).toBe(pid);
  expect(await problemsAtRest(box, ids)).toEqual([]);
  expect(box.starts()).toEqual(Object.fromEntries(ids.map((id) => [`${id}.1`, 1])));
  const adopted = (id: string): boolean | undefined => box.attemptLines(id)[0]?.adopted;
  expect([first.dispatchId, second, echo, third, last].map(adopted)).toEqual([true, false, false, true, false]);
});

test('a daemon that is killed while its files are missing is started again by the waiting clients once the files are back', async () => {
  const attended = box.start(['run', '--pin', 'codex'], { input: untilThere(file('go'), 'attended') });
  await waitUntil(() => started().length === 1, { what: 'the agent' });
  const [id = ''] = started();
  const waiting = box.start(['wait', id]);
  await waitUntil(() => isAsking(waiting), { what: 'the client to ask' });
  await replacePackage(installed, after, async () => {
    await box.killDaemon();
    await sleep(1_000);
    // They come back one by one: what a client loads for the start is there before what that needs.
    mkdirSync(join(installed, 'dist'), { recursive: true });
    cpSync(join(after, 'dist/cold.mjs'), join(installed, 'dist/cold.mjs'));
    await sleep(1_000);
    expect([attended.child.exitCode, waiting.child.exitCode]).toEqual([null, null]);
  });
  await waitUntil(() => box.daemonPids().length === 1, { what: 'the next daemon' });
  writeFileSync(file('go'), '');
  for (const { ended: left } of [attended, waiting]) expect(await left).toMatchObject({ code: 0 });
  expect(await box.status()).toMatchObject({ version: NEXT });
  expect(await problemsAtRest(box, [id])).toEqual([]);
  expect(box.starts()).toEqual({ [`${id}.1`]: 1 });
});

test('a daemon that a service runs hands over to the service again: the new version stays when nothing is to do', async () => {
  serviceTools(join(box.folder, 'bin'), join(box.folder, 'tools')).set('no-bus', true);
  expect(await box.cmo(['service', 'install'])).toMatchObject({ code: 0 });
  await waitUntil(() => box.daemonPids().length === 1, { what: 'the daemon of the service' });
  const running = await box.submit(untilThere(file('go'), 'adopted'), '--pin', 'codex');
  await waitUntil(() => started().length === 1, { what: 'the agent to run' });
  expect(await box.status()).toMatchObject({ version: OLD, service: true });
  const old = box.daemon();

  await replacePackage(installed, after);
  expect(await box.cmo(['ls'])).toMatchObject({ code: 0, stderr: '' });
  expect(await box.status()).toMatchObject({ version: NEXT, service: true });
  expect([box.daemonPids().length, isAlive(old)]).toEqual([1, false]);
  writeFileSync(file('go'), '');
  expect(await box.wait(running)).toMatchObject({ ok: true });
  expect(await problemsAtRest(box, [running])).toEqual([]);
  expect(box.starts()).toEqual({ [`${running}.1`]: 1 });
});
