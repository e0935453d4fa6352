import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { isEnded, type DispatchRecord } from '#contract';
import { ANY_NODE, keys } from '#store';
import { auditGate, auditIndexes } from '../support/audit.js';
import { openBox, type Box } from '../support/box.js';
import { readLedger } from '../support/ledger.js';
import { oneOf, POINTS, SEED, seeded } from '../support/seeded.js';
import { tempFolder } from '../support/temp.js';
import { sleep, waitUntil } from '../support/wait-until.js';

let box: Box;
afterEach(() => box.close());

const WORK = 24;
const FALLS = 2;
const PROMPTS = [
  '[[sim:echo]]',
  '[[sim:slow seconds=0.5]]',
  '[[sim:slow seconds=2]]',
  '[[sim:empty times=1 then=echo]]',
  '[[sim:slow seconds=5]]',
] as const;

/** Text work, which any node may take: a claim in the one's folder keeps nothing from the other. */
const anywhere = (lane: string): Partial<DispatchRecord> & { lane: string } => ({
  lane,
  home: ANY_NODE,
  access: 'read',
  request: { id: '', cwd: '', hasSchema: false, envNames: [], node: 'any', origin: 'test-node' },
});

const seeds = Array.from({ length: POINTS > 3 ? 4 : 1 }, (_, n) => SEED + n);

test.each(seeds)(
  'two nodes and a Redis that twice comes back as it was up to some seconds before: nothing starts twice and nothing is lost (seed %i)',
  async (seed) => {
    console.log(`two nodes: CMO_TEST_SEED=${seed}`);
    const random = seeded(seed);
    box = await openBox({
      slots: { account: 6, node: 5, dark: 6 },
      timing: { restartGraceMs: 3_000, sweepMs: 700, heartbeatMs: 500, ticketRepairMs: 1_000, owedRepairMs: 1_000 },
    });
    const ids: string[] = [];
    for (let i = 0; i < WORK; i += 1)
      ids.push(await box.submit(`${i} ${oneOf(random, PROMPTS)}`, anywhere(i % 2 === 0 ? 'codex' : 'claude')));
    // Fsync comes once a second: all of it is acknowledged and none of it may be lost.
    await sleep(1_200);
    const folder = tempFolder('other');
    mkdirSync(join(folder, 'home'));
    await box.start();
    await box.start({ id: 'other', stateDir: join(folder, 'state'), env: { HOME: join(folder, 'home') } });

    const falls: string[] = [];
    const data = join(box.server.folder, 'appendonlydir');
    for (let fall = 0; fall < FALLS; fall += 1) {
      await sleep(random() * 1_500);
      const old = join(tempFolder('old'), 'data');
      const copiedAt = Date.now();
      cpSync(data, old, { recursive: true });
      await sleep(300 + random() * 2_500);
      falls.push(`as of ${copiedAt}, killed ${Date.now()}`);
      await box.server.kill();
      rmSync(data, { recursive: true });
      cpSync(old, data, { recursive: true });
      await box.server.start();
      falls.push(`up ${Date.now()}`);
      // Else it would fall back behind what nobody could have asserted yet.
      await sleep(3_500);
    }
    const records = async (): Promise<DispatchRecord[]> =>
      (await Promise.all(ids.map((id) => box.records.read(id)))).flatMap((record) => (record ? [record] : []));
    await waitUntil(async () => (await records()).every(({ state }) => isEnded(state)), {
      what: 'all to end',
      timeoutMs: 60_000,
      everyMs: 200,
    });
    const twice = Object.entries(box.starts()).flatMap(([attempt, times]) => (times > 1 ? [attempt] : []));
    expect(twice, (await Promise.all(twice.map(story))).join('\n') + falls.join('; ')).toEqual([]);
    expect((await records()).map(({ state }) => state)).toEqual(ids.map(() => 'succeeded'));
    let problems: string[] = [];
    const look = async (): Promise<string[]> => [
      ...(await auditIndexes(box.redis)),
      ...(
        await Promise.all(['codex', 'claude'].map((account) => auditGate(box.redis, account, { records: true })))
      ).flatMap((audit) => audit.problems),
    ];
    await waitUntil(async () => (problems = await look()).length === 0, { timeoutMs: 8_000, everyMs: 300 }).catch(
      () => undefined,
    );
    expect(problems).toEqual([]);
  },
  120_000,
);

/** What Redis and the ledger say of an attempt, with their times. */
async function story(attempt: string): Promise<string> {
  const events = (await box.redis.xrange(keys.events, '-', '+'))
    .filter(([, fields]) => fields.includes(attempt.split('.')[0] ?? ''))
    .map(([at, fields]) => `${at} ${fields.slice(2, 6).join(' ')}`);
  const lines = readLedger(box.ledger)
    .filter((line) => line.attempt === attempt)
    .map((line) => `${line.at} ${line.event} ${line.event === 'start' ? line.cwd : ''}`);
  return [attempt, ...events, ...lines].join('\n  ');
}
