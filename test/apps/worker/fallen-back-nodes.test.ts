import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { DispatchRecord } from '#contract';
import { ANY_NODE } from '#store';
import { auditGate, auditIndexes } from '../../support/audit.js';
import { openBox, type Box } from '../../support/box.js';
import { tempFolder } from '../../support/temp.js';
import { waitUntil } from '../../support/wait-until.js';

let box: Box;
afterEach(() => box.close());

const WORK = 12;
/** Of these, have ended when Redis falls back. */
const DONE = 4;

/** Text work, which any node may take: only Redis knows who did. */
const anywhere = (): Pick<DispatchRecord, 'home' | 'request' | 'access'> => ({
  home: ANY_NODE,
  access: 'read',
  request: { id: '', cwd: '', hasSchema: false, envNames: [], node: 'any', origin: 'test-node' },
});

test('when Redis comes back as it was before any start, each of two nodes first reports what it runs and has run, and neither starts what the other has', async () => {
  // Slow to look around by itself, as a box with much to do is: the grace must be longer than that.
  box = await openBox({
    slots: { account: WORK, node: WORK - DONE, dark: WORK },
    timing: { restartGraceMs: 3_000, sweepMs: 1_000, heartbeatMs: 500 },
  });
  const ids: string[] = [];
  for (let i = 0; i < WORK; i += 1)
    ids.push(
      await box.submit(`[[sim:slow seconds=${i < DONE ? 0.5 : 9}]]`, {
        ...anywhere(),
        lane: i % 2 === 0 ? 'codex' : 'claude',
      }),
    );
  const data = join(box.server.folder, 'appendonlydir');
  const old = join(tempFolder('old'), 'data');
  await box.redis.call('BGREWRITEAOF');
  await waitUntil(async () => (await box.redis.info('persistence')).includes('aof_rewrite_in_progress:0'), {
    what: 'the file of Redis to be whole',
  });
  cpSync(data, old, { recursive: true });

  const folder = tempFolder('other');
  mkdirSync(join(folder, 'home'));
  await box.start();
  await box.start({ id: 'other', stateDir: join(folder, 'state'), env: { HOME: join(folder, 'home') } });
  await waitUntil(() => Object.keys(box.starts()).length === WORK, { what: 'all agents to run' });
  for (const id of ids.slice(0, DONE)) await box.ended(id);
  const where = new Map((await records()).map(({ id, node }) => [id, node]));
  expect(new Set(where.values())).toEqual(new Set(['test-node', 'other']));

  await box.server.kill();
  rmSync(data, { recursive: true });
  cpSync(old, data, { recursive: true });
  await box.server.start();
  for (const id of ids)
    expect(await box.ended(id)).toMatchObject({ state: 'succeeded', attempt: 1, node: where.get(id) });
  expect(box.starts()).toEqual(Object.fromEntries(ids.map((id) => [`${id}.1`, 1])));
  expect(await auditIndexes(box.redis)).toEqual([]);
  for (const account of ['codex', 'claude'])
    expect((await auditGate(box.redis, account, { records: true })).problems).toEqual([]);
}, 90_000);

async function records(): Promise<DispatchRecord[]> {
  const ids = Object.keys(box.starts()).map((attempt) => attempt.split('.')[0] ?? '');
  return (await Promise.all(ids.map((id) => box.records.read(id)))).flatMap((record) => (record ? [record] : []));
}
