import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { packedPackage } from '../../scripts/pack.mjs';
import { tempFolder } from '../support/temp.js';

const root = new URL('../../', import.meta.url).pathname;
const full = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[]; version: string };
const vectors = JSON.parse(readFileSync(join(root, 'test/vectors/decisions.json'), 'utf8')) as {
  vectors: {
    name: string;
    input: unknown;
    expected: Record<string, unknown>;
    alsoAccept?: Record<string, unknown>[];
  }[];
};

/** Installed from the packed file into an empty folder, with a registry that can't be reached. */
let installed: string;
const npm = (args: string[], cwd: string): { code: number | null; out: string } => {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    [...args, '--offline', '--no-audit', '--no-fund', '--no-update-notifier'],
    {
      cwd,
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: cwd,
        npm_config_cache: join(cwd, 'npm-cache'),
        npm_config_registry: 'http://127.0.0.1:9',
      },
    },
  );
  return { code: status, out: `${stdout}${stderr}` };
};
beforeAll(() => {
  const [staged, target] = [tempFolder('pack'), tempFolder('installed')];
  const [hot = ''] = /hot-[0-9a-f]+\.cjs/.exec(readFileSync(join(root, 'dist/cmo.cjs'), 'utf8')) ?? [];
  for (const file of [...full.files, 'README.md', 'LICENSE'].map((name) => name.replace('hot-*.cjs', hot))) {
    mkdirSync(dirname(join(staged, file)), { recursive: true });
    cpSync(join(root, file), join(staged, file), { recursive: true });
  }
  writeFileSync(join(staged, 'package.json'), JSON.stringify(packedPackage(full)));
  const packed = npm(['pack', '--ignore-scripts', '--pack-destination', target], staged);
  expect(packed.code, packed.out).toBe(0);
  const file = readdirSync(target).find((name) => name.endsWith('.tgz')) ?? '';
  writeFileSync(join(target, 'package.json'), '{"private": true}');
  const ran = npm(['install', `./${file}`], target);
  expect(ran.code, ran.out).toBe(0);
  installed = join(target, 'node_modules');
});
const cmo = (args: string[], input = ''): { status: number | null; stdout: string; stderr: string } => {
  const home = tempFolder('pack-home');
  return spawnSync(process.execPath, [join(installed, '.bin/cmo'), ...args], {
    cwd: home,
    input,
    encoding: 'utf8',
    env: { PATH: dirname(process.execPath), HOME: home, CMO_STATE_DIR: join(home, 'state') },
  });
};

test('the packed package brings nothing with it, and has both names', () => {
  expect(readdirSync(installed).filter((name) => !name.startsWith('.'))).toEqual(['cross-model-orchestrate']);
  expect(readdirSync(join(installed, '.bin')).sort()).toEqual(['cmo', 'cross-model-orchestrate']);
  expect(readdirSync(join(installed, 'cross-model-orchestrate')).sort()).toEqual([
    'LICENSE',
    'README.md',
    'dist',
    'docs',
    'package.json',
  ]);
  expect(cmo(['--version']).stdout).toBe(`${full.version}\n`);
});

test('the packed and installed cmo explains the known decisions, offline and without a daemon', () => {
  const { status, stdout, stderr } = cmo(
    ['explain', 'decision', '-', '--json'],
    JSON.stringify(vectors.vectors.map(({ input }) => input)),
  );
  expect([status, stderr]).toEqual([0, '']);
  const answers = JSON.parse(stdout) as unknown[];
  expect(answers).toHaveLength(vectors.vectors.length);
  for (const [i, { name, expected, alsoAccept = [] }] of vectors.vectors.entries()) {
    const fits = [expected, ...alsoAccept].some((right) => holds(answers[i], right));
    if (!fits) expect(answers[i], name).toMatchObject(expected);
  }
});

test('it plans and tests itself, and everything it loads when called is there', () => {
  expect(cmo(['plan', '--role', 'judge']).status).toBe(3);
  expect(cmo(['selftest']).status).toBe(0);
  expect(cmo(['help', 'run']).stdout).toContain('cmo run');
  expect(cmo(['doctor', '--only', 'node,config']).status).toBe(0);
  expect(existsSync(join(installed, 'cross-model-orchestrate/dist/daemon.mjs'))).toBe(true);
});

/** Times as instants and numbers with a tolerance, as the vectors say; extra members are welcome. */
function holds(answer: unknown, right: unknown): boolean {
  if (typeof right === 'number' && typeof answer === 'number') return Math.abs(answer - right) <= 0.01;
  if (typeof right === 'string' && typeof answer === 'string')
    return answer === right || (/^\d{4}-/.test(right) && Date.parse(answer) === Date.parse(right));
  if (Array.isArray(right))
    return Array.isArray(answer) && answer.length === right.length && right.every((one, i) => holds(answer[i], one));
  if (typeof right !== 'object' || right === null) return answer === right;
  return (
    typeof answer === 'object' &&
    answer !== null &&
    Object.entries(right).every(([key, one]) => holds((answer as Record<string, unknown>)[key], one))
  );
}
