import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  identityOf,
  nodeSupervisor,
  probeSupervisor,
  readStatus,
  shellSupervisor,
  spawnSupervisor,
  startSupervisor,
  voidClaim,
} from '#runner';
import { processState } from '../../support/processes.js';
import { tempFolder } from '../../support/temp.js';
import { waitUntil } from '../../support/wait-until.js';
import { BIN, cleanAfterwards, ENV, exitOf, newPlan, newRun, start, supervisorOf } from './support.js';

test('this box does the shell supervisor, and a trial says so', async () => {
  expect(await probeSupervisor({ script: '/no/such/script' })).toEqual(shellSupervisor());
});

test('a box without setpriv gets the Node supervisor, with the reason', async () => {
  const tools = tempFolder('tools');
  for (const name of ['sh', 'env', 'setsid', 'ln', 'mv', 'rm', 'sync', 'sleep', 'grep'])
    symlinkSync(`/usr/bin/${name}`, join(tools, name));
  expect(await probeSupervisor({ script: '/the/script', tools })).toEqual(
    nodeSupervisor('/the/script', 'not found: setpriv'),
  );
});

test('a box whose tools lack an option gets the Node supervisor, with the reason', async () => {
  for (const [tool, script, why] of [
    ['setpriv', 'echo "setpriv: unrecognized option: pdeathsig" >&2; exit 1', 'a trial run ended with code 1'],
    ['sleep', 'echo "sleep: invalid number" >&2; exit 1', 'a trial run ended with code 1'],
    ['grep', 'exit 2', 'grep does not know -z, or an environment cannot be read'],
  ] as const) {
    const tools = tempFolder('tools');
    writeFileSync(join(tools, tool), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    expect(await probeSupervisor({ script: '/the/script', tools: `${tools}:/usr/bin:/bin` })).toEqual(
      nodeSupervisor('/the/script', why),
    );
  }
});

test('a command line that the system refuses is an exit record, not an exception', async () => {
  const run = await newRun(['/bin/echo', 'x'.repeat(3_000_000)]);
  expect(await start(run, await supervisorOf('shell'))).toEqual({ came: 'exited', pid: null });
  expect((await exitOf(run)).exit).toMatchObject({ code: 127, spawnError: expect.stringContaining('E2BIG') as string });
});

test('a start into a void folder, or one that runs already, is lost', async () => {
  const supervisor = await supervisorOf('shell');
  const empty = await newRun(['/bin/true']);
  await voidClaim(empty.folder);
  expect((await start(empty, supervisor)).came).toBe('lost');
  const running = await newRun([`${BIN}sleeps-forever`]);
  expect((await start(running, supervisor)).came).toBe('running');
  expect((await start(running, supervisor)).came).toBe('lost');
});

test('a supervisor that cannot even claim is dead, and the folder is as before', async () => {
  const run = await newRun(['/bin/true']);
  const started = await startSupervisor({
    folder: join(run.folder, 'no such folder'),
    plan: run.plan,
    env: ENV,
    supervisor: await supervisorOf('shell'),
  });
  expect(started.came).toBe('dead');
  expect(await readStatus(run.folder)).toEqual({ state: 'unclaimed' });
});

test("waiting is bounded, and the folder's tender still finds what comes later", async () => {
  const run = await newRun([`${BIN}sleeps-forever`]);
  const supervisor = shellSupervisor();
  if (typeof supervisor === 'string') throw new Error(supervisor);
  const tools = tempFolder('tools');
  symlinkSync(`${BIN}holds-its-supervisor`, join(tools, 'ln'));
  const started = await startSupervisor(
    {
      folder: run.folder,
      plan: run.plan,
      env: ENV,
      supervisor: { ...supervisor, tools: `${tools}:${supervisor.tools}` },
    },
    200,
  );
  expect(started.came).toBe('late');
  const pid = started.pid ?? 0;
  await waitUntil(() => processState(pid) === 'T');
  process.kill(-pid, 'SIGCONT');
  await waitUntil(async () => (await readStatus(run.folder)).state === 'running');
});

test('an impossible plan is a bug: it throws, and starts nothing', async () => {
  const plan = newPlan(['/bin/true'], { deadlineMs: Number.NaN });
  await expect(
    spawnSupervisor({ folder: '/nonexistent', plan, env: {}, supervisor: await supervisorOf('shell') }),
  ).rejects.toThrow(RangeError);
});

test('the supervisor leads a session of its own, without this process’ marks in its way', async () => {
  const run = await newRun([`${BIN}sleeps-forever`]);
  cleanAfterwards(run.id);
  const { pid } = await start(run, await supervisorOf('shell'), { ...ENV, CMO_ATTEMPT: 'd-outer.1' });
  const { readStat } = await import('#runner/process-identity');
  expect(readStat(pid ?? 0)).toMatchObject({ group: pid, session: pid });
  expect(identityOf(pid ?? 0)).not.toBeNull();
  const { processesWith } = await import('../../support/processes.js');
  expect(processesWith('d-outer.1')).toEqual([]);
  expect(processesWith(run.id).length).toBe(1);
});
