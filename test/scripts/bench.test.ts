import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const bench = new URL('../../bench/', import.meta.url).pathname;
const names = readdirSync(bench)
  .filter((file) => file.endsWith('.mjs') && file !== 'bench.mjs')
  .map((file) => file.replace('.mjs', ''))
  .sort();
const run = (...args: string[]) => spawnSync(process.execPath, [`${bench}bench.mjs`, ...args], { encoding: 'utf8' });

test('without a name every bench is listed with what it measures', () => {
  const { status, stdout } = run();
  const lines = stdout.trimEnd().split('\n');
  expect(status).toBe(0);
  expect(lines.map((line) => line.split(' ')[0])).toEqual(names);
  for (const line of lines) expect(line).toMatch(/^\S+ +\S.{20,90}\.$/);
});

test('a bench that does not exist is refused', () => {
  expect(run('nothing')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('no bench called nothing') as string,
  });
});

test('every bench is in the README, with what must hold and with its last figures', () => {
  const [what = '', seen = ''] = readFileSync(`${bench}README.md`, 'utf8').split('## Last figures');
  for (const name of names) expect(what, name).toContain(`\n| \`${name}\` |`);
  for (const name of names.filter((one) => one !== 'probe')) expect(seen, name).toContain(`\n| \`${name}\` (`);
});

test('the tests that the README names are there', () => {
  const named = readFileSync(`${bench}README.md`, 'utf8').match(/test\/[\w/-]+(?:\.test\.ts)?/g) ?? [];
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((path) => !existsSync(`${bench}../${path}`))).toEqual([]);
});
