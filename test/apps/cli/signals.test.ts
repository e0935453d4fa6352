import { spawnSync, type StdioOptions } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorBody, type Envelope } from '#contract';
import { waitUntil } from '../../support/wait-until.js';
import { buildCli } from './support/build-cli.js';
import {
  data,
  envelope,
  fakeDaemon,
  oneDispatch,
  succeeded,
  type FakeDaemon,
  type Reply,
} from './support/fake-daemon.js';
import { freshBox, type Box } from './support/run-cli.js';

function gate(): { open(): void; opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), opened };
}

/** A daemon whose dispatch runs until it is cancelled; with `deaf`, not even then. */
async function running(box: Box, options: { deaf?: boolean } = {}): Promise<FakeDaemon> {
  const asked = gate();
  return fakeDaemon(
    box.state,
    oneDispatch(async (id, { path }): Promise<Envelope | Reply> => {
      if (path.endsWith('/cancel')) {
        asked.open();
        return data('cmo.cancel/1', { id, how: 'asked', state: 'running' });
      }
      await asked.opened;
      return options.deaf ? 'hang' : envelope(id, { state: 'cancelled', error: errorBody('CMO_E_CANCELLED') });
    }),
  );
}
const waiting = (daemon: FakeDaemon) =>
  waitUntil(() => daemon.received.some(({ method }) => method === 'GET'), { what: 'the CLI to wait' });
const cancels = (daemon: FakeDaemon) => daemon.received.filter(({ path }) => path.endsWith('/cancel'));

test.each([
  ['run', ['run', '--prompt', 'a']],
  ['wait', ['wait', 'd-01JE0000000000000000000001']],
])('Ctrl-C on %s cancels, waits for the end, says so and exits 130', async (_name, args) => {
  const box = await freshBox();
  const daemon = await running(box);
  const { child, ran } = box.start(args);
  await waiting(daemon);
  child.kill('SIGINT');
  const { code, stdout, stderr } = await ran;
  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ state: 'cancelled' });
  expect(stderr).toMatch(/cmo: cancelling d-\S+ \(Ctrl-C again to leave at once\)/);
  expect(stderr).toMatch(/cmo: interrupted: d-\S+ cancelled/);
  expect(cancels(daemon)).toHaveLength(1);
  await daemon.close();
});

test('a second Ctrl-C leaves at once', async () => {
  const box = await freshBox();
  const daemon = await running(box, { deaf: true });
  const { child, ran } = box.start(['run', '--prompt', 'a']);
  await waiting(daemon);
  child.kill('SIGINT');
  await waitUntil(() => cancels(daemon).length > 0);
  child.kill('SIGINT');
  const { code, stderr } = await ran;
  expect(code).toBe(130);
  expect(stderr).toMatch(/not ended yet \(`cmo show d-/);
  await daemon.close();
});

test('Ctrl-C while the task is being handed over cancels what was handed over', async () => {
  const box = await freshBox();
  const taken = gate();
  const serve = oneDispatch((id, { path }) =>
    path.endsWith('/cancel')
      ? data('cmo.cancel/1', { id, how: 'cancelled', state: 'cancelled' })
      : envelope(id, { state: 'cancelled' }),
  );
  const daemon = await fakeDaemon(box.state, async (request) => {
    if (request.path === '/v1/dispatches') await taken.opened;
    return serve(request);
  });
  const { child, ran, stderr } = box.start(['run', '--prompt', 'a']);
  await waitUntil(() => daemon.submitted().length === 1);
  child.kill('SIGINT');
  await waitUntil(() => stderr().includes('cancelling'));
  taken.open();
  expect((await ran).code).toBe(130);
  expect(cancels(daemon)).toHaveLength(1);
  await daemon.close();
});

test.each([
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s leaves the agent running and names the way back', async (signal, exit) => {
  const box = await freshBox();
  const daemon = await running(box);
  const { child, ran } = box.start(['run', '--prompt', 'a']);
  await waiting(daemon);
  child.kill(signal);
  const { code, stdout, stderr } = await ran;
  const id = daemon.submitted()[0]?.id ?? '';
  expect(code).toBe(exit);
  expect(stderr).toContain(`cmo wait ${id}`);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, dispatchId: id, error: { code: 'CMO_E_INTERRUPTED' } });
  expect(cancels(daemon)).toEqual([]);
  await daemon.close();
});

test('a closed stdout does not crash the command: the exit code stays, and stderr says how to see the answer again', async () => {
  const box = await freshBox();
  const finished = gate();
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch(async (id) => {
      await finished.opened;
      return succeeded(id, 'x'.repeat(300_000));
    }),
  );
  const { child, ran } = box.start(['run', '--prompt', 'a']);
  await waiting(daemon);
  child.stdout?.destroy();
  finished.open();
  const { code, stderr } = await ran;
  expect(code).toBe(0);
  expect(stderr).toMatch(/the reader of stdout has left; `cmo result d-\S+` prints it again/);
  expect(stderr).not.toMatch(/EPIPE|at .*\.mjs/);
  await daemon.close();
});

test('a listing into a reader that has left ends quietly', async () => {
  const box = await freshBox();
  const { child, ran } = box.start(['help', 'exit-codes']);
  child.stdout?.destroy();
  expect(await ran).toMatchObject({ code: 0, stderr: '' });
});

test.skipIf(!existsSync('/dev/full'))(
  'an answer that finds no room where stdout goes is told as that, and a note that finds none ends nothing',
  async () => {
    const { program } = await buildCli();
    const box = await freshBox();
    const full = openSync('/dev/full', 'w');
    const into = (words: string[], stdio: StdioOptions) =>
      spawnSync(process.execPath, [program, ...words], { env: box.env, stdio, encoding: 'utf8' });
    const answer = into(['help', 'exit-codes'], ['ignore', full, 'pipe']);
    expect(answer.status).toBe(5);
    expect(answer.stderr).toMatch(
      /^cmo: there is no room for what stdout should get \(ENOSPC\) \[CMO_E_DISK\]\n {2}fix: /,
    );
    const note = into(['nonsense', '--json'], ['ignore', 'pipe', full]);
    expect([note.status, note.stdout]).toEqual([2, expect.stringContaining('CMO_E_USAGE')]);
    closeSync(full);
  },
);
