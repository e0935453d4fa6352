import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Envelope, StatusData } from '#contract';
import { sleep, waitUntil } from '../support/wait-until.js';
import { openFlow, untilThere, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
afterEach(() => box.close());

/** How often the daemons of this box wrote that in their log. */
function logged(message: string): number {
  return readFileSync(join(box.paths.logs, 'daemon.log'), 'utf8').split(`"msg":"${message}"`).length - 1;
}

test('64 cmo run at once on a cold home start one daemon and one Redis, run ten at a time, and all succeed', async () => {
  box = openFlow({ config: { slots: { account: 10, node: 16, dark: 10 } } });
  const go = join(box.folder, 'go');
  const clients = Array.from({ length: 64 }, (_, n) =>
    box.start(['run', '--pin', 'codex'], { input: untilThere(go, `answer-${n}.`) }),
  );
  // All have arrived, and as many run as may: from here on only the ends of some let others start.
  await waitUntil(
    async () => {
      const { counts }: Partial<StatusData> = await box.status();
      return counts?.running === 10 && counts.queued === 54;
    },
    { what: '10 to run and 54 to wait', timeoutMs: 90_000, everyMs: 500 },
  );
  const [daemon, redis] = [box.daemon(), box.redisPid()];
  await waitUntil(() => box.ledger().length >= 10, { what: 'ten agents to have started' });
  await sleep(1_000);
  expect(box.ledger()).toHaveLength(10);

  writeFileSync(go, '');
  const ran = await Promise.all(clients.map(({ ended }) => ended));
  expect(ran.map(({ code }) => code)).toEqual(ran.map(() => 0));
  const envelopes = ran.map(({ stdout }) => JSON.parse(stdout) as Envelope);
  expect(envelopes.map(({ result }, n) => result?.includes(`answer-${n}.`))).toEqual(ran.map(() => true));
  expect(box.peak()).toBe(10);
  expect(
    await problemsAtRest(
      box,
      envelopes.map(({ dispatchId }) => dispatchId),
    ),
  ).toEqual([]);
  expect([logged('ready'), logged('private Redis started')]).toEqual([1, 1]);
  expect([box.daemon(), box.redisPid()]).toEqual([daemon, redis]);
}, 150_000);

test.each([
  ['after a kill -9 of the daemon, with Redis alive', false],
  ['after a kill -9 of the daemon, with the socket file of the living Redis removed by hand', true],
])('two cmo up at once %s: one daemon, one Redis, nothing lost', async (_when, removed) => {
  box = openFlow({ config: { slots: { account: 1, node: 8, dark: 1 } } });
  const go = join(box.folder, 'go');
  const ids = [
    await box.submit(untilThere(go), '--pin', 'codex'),
    await box.submit('waits', '--pin', 'codex'),
    await box.submit('[[sim:echo]]', '--pin', 'claude'),
  ];
  await waitUntil(() => box.ledger().length >= 3, { what: 'one agent to run and one to have ended' });
  const [daemon, redis] = [box.daemon(), box.redisPid()];
  await box.killDaemon();
  if (removed) rmSync(box.paths.redisSocket);

  const ups = await Promise.all([box.cmo(['up', '--json']), box.cmo(['up', '--json'])]);
  expect(ups.map(({ code }) => code)).toEqual([0, 0]);
  const said = ups.map(({ stdout }) => (JSON.parse(stdout) as { data: { pid: number; started: boolean } }).data);
  expect(said.map(({ pid }) => pid)).toEqual([box.daemon(), box.daemon()]);
  expect(said.filter(({ started }) => started)).toHaveLength(1);
  expect(box.daemon()).not.toBe(daemon);
  if (removed) expect(box.redisPid()).not.toBe(redis);
  else expect(box.redisPid()).toBe(redis);

  writeFileSync(go, '');
  for (const id of ids) expect(await box.wait(id)).toMatchObject({ ok: true });
  expect(await problemsAtRest(box, ids)).toEqual([]);
  expect(box.starts()).toEqual(Object.fromEntries(ids.map((id) => [`${id}.1`, 1])));
});
