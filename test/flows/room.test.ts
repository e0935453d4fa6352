import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { GcData } from '#contract';
import { waitUntil } from '../support/wait-until.js';
import { openFlow, type FlowBox } from './flow-box.js';

/** What is kept, and what a full disk refuses, on the built programs. */
let box: FlowBox;
afterEach(() => box.close());

test('cmo gc says what it would remove, removes that, and leaves what lives', async () => {
  box = openFlow({ config: { retention: { records: { days: 30, most: 2 }, runs: { days: 14, most: 1 } } } });
  const living = await box.submit('[[sim:slow seconds=60]]', '--role', 'research');
  for (let i = 0; i < 4; i++) await box.run('done [[sim:echo]]', '--role', 'research');
  await waitUntil(() => readdirSync(join(box.stateDir, 'runs/done')).length === 4);
  const ask = async (...flags: string[]): Promise<GcData> => (await box.ask<{ data: GcData }>(['gc', ...flags])).data;
  const dry = await ask('--dry-run');
  expect(dry).toMatchObject({ dryRun: true, records: { removed: 2 }, runs: { removed: 3 } });
  expect((await box.ls()).length).toBe(5);
  expect(await ask()).toMatchObject({ dryRun: false, records: { removed: 2 }, runs: { removed: 3 } });
  expect((await box.ls()).map(({ state }) => state).sort()).toEqual(['running', 'succeeded', 'succeeded']);
  expect((await box.show(living)).record.state).toBe('running');
  expect(box.receipts().filter(({ kind }) => kind === 'dispatch')).toHaveLength(4);
  const said = await box.cmo(['gc']);
  expect(said.stdout).toContain('records   0 removed');
});

test('below the floor of the disk new work is refused with its code, and agents that run go on to their receipts', async () => {
  box = openFlow();
  const running = await box.submit('[[sim:slow seconds=2]]', '--role', 'research');
  await waitUntil(async () => (await box.show(running)).record.state === 'running');
  await box.cmo(['down']);
  writeFileSync(
    box.configFile,
    JSON.stringify({ ...(JSON.parse(readFileSync(box.configFile, 'utf8')) as object), disk: { floorMb: 10_000_000 } }),
  );
  await box.up();
  const refused = await box.cmo(['run', '--role', 'research', '--json'], { input: 'more' });
  expect(refused.code).toBe(5);
  expect(refused.stdout).toContain('CMO_E_DISK');
  expect(await box.wait(running)).toMatchObject({ ok: true });
  expect(box.linesOf(running)).toHaveLength(2);
});
