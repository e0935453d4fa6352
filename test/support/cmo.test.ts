import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openCmo } from './cmo.js';
import { isAlive, processesOf } from './processes.js';
import { waitUntil } from './wait-until.js';

test('a scratch box runs a task, shows what ran, and leaves nothing when it is closed', async () => {
  const box = openCmo();
  expect(await box.run('hello', '--role', 'research')).toMatchObject({ ok: true, result: 'sim:codex heard: hello' });
  const id = await box.submit('[[sim:hang]]', '--role', 'research', '--pin', 'claude');
  await waitUntil(() => box.starts()[`${id}.1`] === 1, { what: 'the agent to start' });
  expect(box.daemonPids()).toEqual([(await box.status()).pid]);
  expect(box.redisPids()).toEqual([(await box.status()).redis.pid]);
  const { supervisor, cli } = box.runPids(`${id}.1`);
  expect([isAlive(supervisor), isAlive(cli)]).toEqual([true, true]);
  expect(box.marked(id).length).toBeGreaterThan(0);
  expect(box.peak()).toBe(1);
  await box.close();
  expect(box.marked(id)).toEqual([]);
  expect(processesOf(box.folder)).toEqual([]);
  expect(existsSync(box.folder)).toBe(false);
});

test('a CLI that is not installed is not found', async () => {
  const box = openCmo({ clis: { codex: null, claude: null } });
  expect((await box.cmo(['run'], { input: 'hello' })).code).toBe(4);
  await box.close();
});
