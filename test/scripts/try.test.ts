import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { processesOf } from '../support/processes.js';
import { tempFolder } from '../support/temp.js';
import { waitUntil } from '../support/wait-until.js';

const TRY = new URL('../../scripts/try.mjs', import.meta.url).href;

/** As `npm run try` after the set-up, where no vendor's CLI is installed. */
function start(...args: string[]) {
  const temp = tempFolder('try');
  const code = `process.exitCode = await (await import('${TRY}')).main(${JSON.stringify(args)});`;
  const env = {
    PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    TMPDIR: temp,
    HOME: temp,
    CMO_STATE_DIR: `${temp}/not-mine`,
  };
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (out += text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { temp, child, ended, out: () => out };
}

test('a try re-routes, adopts, adds up, says that nothing is spent and what to type next, and leaves nothing', async () => {
  const { temp, ended, out } = start();
  expect(await ended, out()).toBe(0);
  expect(out()).toContain('Nothing is spent');
  expect(out()).toContain('census: 4 dispatches = 4 succeeded');
  expect(out().match(/^ {2}attempt /gm)).toHaveLength(5);
  expect(out().match(/^ {2}dispatch /gm)).toHaveLength(4);
  expect(out()).toMatch(/attempt .*codex: usage_limit, resets /);
  expect(out()).toMatch(/attempt .*claude: ok, adopted/);
  expect(out()).toContain('npm run try -- --live');
  expect(processesOf(temp)).toEqual([]);
  expect(readdirSync(temp)).toEqual([]);
});

test('Ctrl-C in the middle of a try ends all that it started', async () => {
  const { temp, child, ended, out } = start();
  await waitUntil(() => out().includes('a plain dispatch on codex'), { what: 'the first dispatch to end' });
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(processesOf(temp)).toEqual([]);
  expect(readdirSync(temp)).toEqual([]);
});

test('an unknown word is refused, and so is --live without a prompt', async () => {
  for (const args of [['--dry'], ['--live'], ['--live', ' ']]) {
    const { ended, out } = start(...args);
    expect(await ended).toBe(2);
    expect(out()).toContain('npm run try -- --live "prompt"');
  }
});
