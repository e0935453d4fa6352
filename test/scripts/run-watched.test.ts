import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { waitGone } from '../support/processes.js';
import { tempFolder } from '../support/temp.js';

const MODULE = new URL('../../scripts/suite/run-watched.mjs', import.meta.url).href;

function watched(program: string, silenceMs: number): Promise<{ out: string; err: string }> {
  const code = `const { runWatched } = await import('${MODULE}'); console.log('code', await runWatched(process.execPath, ['${program}'], ${silenceMs}));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  return new Promise((resolve) => child.once('close', () => resolve({ out, err })));
}

test('a program that spins in a child and says nothing more is ended with all its descendants', async () => {
  const folder = tempFolder('hang');
  const program = join(folder, 'hangs.mjs');
  writeFileSync(
    program,
    `import { spawn } from 'node:child_process';\nimport { writeFileSync } from 'node:fs';\nconst child = spawn(process.execPath, ['-e', 'for (;;);']);\nwriteFileSync('${folder}/pid', String(child.pid));\nconsole.log('begun');\n`,
  );
  const { out, err } = await watched(program, 1_000);
  expect(out).toBe('begun\ncode 124\n');
  expect(err).toContain('it hangs');
  await waitGone(Number(readFileSync(join(folder, 'pid'), 'utf8')));
});

test('one that goes on printing is left alone, however long it takes in all', async () => {
  const program = join(tempFolder('slow'), 'slow.mjs');
  writeFileSync(
    program,
    `for (let i = 0; i < 8; i++) { console.log(i); await new Promise((resolve) => setTimeout(resolve, 300)); }\nprocess.exitCode = 3;\n`,
  );
  expect((await watched(program, 1_500)).out).toBe('0\n1\n2\n3\n4\n5\n6\n7\ncode 3\n');
});
