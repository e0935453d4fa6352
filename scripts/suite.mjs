// The whole suite: types, lint, tests on real Redis and real processes, and the vendors' own CLIs where they are at
// hand. The very last line is plain: `N passed, N failed`. A failed type check, lint or format counts as one failed.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, say } from './setup/command.mjs';
import { countOf, lastLine } from './suite/count.mjs';
import { provideRealClis } from './suite/real-clis.mjs';
import { runWatched } from './suite/run-watched.mjs';

/** vitest prints a line when a file of tests ends; the longest takes two minutes on a busy box. */
const SILENCE_MS = 8 * 60_000;

const bin = (name) => join('node_modules', '.bin', name);

/** @param args for vitest; with any, only the tests that they name are run */
export async function main(args) {
  const counts = [];
  if (args.length === 0) counts.push(...(await checkSources()));
  else say('only the named tests: types and lint are checked by a plain `npm test`');
  const missing = await provideRealClis(process.env);
  if (missing) {
    say(`FAILED: the real CLIs can't be had: ${missing}`);
    counts.push({ passed: 0, failed: 1, skipped: 0 });
  }
  counts.push(await runTests(args));
  console.log(lastLine(counts));
  return counts.some(({ failed }) => failed > 0) ? 1 : 0;
}

async function checkSources() {
  const checks = [
    ['types (tsc -b)', bin('tsc'), ['-b']],
    [
      'the vendor simulator (node --test)',
      process.execPath,
      ['--test', '--test-reporter=dot', 'test/vendor-sim/test/'],
    ],
    ['lint (eslint .)', bin('eslint'), ['.']],
    ['format (prettier --check .)', bin('prettier'), ['--check', '--log-level', 'warn', '.']],
  ];
  const counts = [];
  for (const [name, command, words] of checks) {
    const ok = (await run(command, words)) === 0;
    say(`${ok ? 'ok' : 'FAILED'}: ${name}`);
    counts.push({ passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 });
  }
  return counts;
}

async function runTests(args) {
  const folder = mkdtempSync(join(tmpdir(), 'cmo-suite-'));
  const output = join(folder, 'result.json');
  try {
    const words = ['run', ...args, '--reporter=default', '--reporter=json', `--outputFile.json=${output}`];
    const code = await runWatched(bin('vitest'), words, SILENCE_MS);
    return countOf(readResult(output), code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readResult(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
