import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { followLog } from '#cli/client/follow-log';
import { openCmo, type Cmo } from '../../support/cmo.js';
import { tempFolder } from '../../support/temp.js';
import { waitUntil } from '../../support/wait-until.js';

describe('cmo logs', () => {
  let box: Cmo;
  beforeAll(() => {
    box = openCmo();
  });
  afterAll(() => box.close());

  test.each(['codex', 'claude'])('shows what a %s did, event by event, after its end too', async (lane) => {
    const { dispatchId: id } = await box.run('[[sim:tool cmd="echo ran-it"]]', '--pin', lane);
    const { code, stdout } = await box.cmo(['logs', id]);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(new RegExp(`^attempt 1 on ${lane} `));
    expect(lines).toContain('$ echo ran-it');
    expect(lines.some((line) => /^ {2}(exit 0: )?ran-it$/.test(line))).toBe(true);
    expect(lines.at(-1)).toMatch(/^ {2}done: \d+ tokens in, \d+ out$/);
    const { data } = await box.ask<{ data: { attempt: number; lines: { kind: string }[] } }>(['logs', id]);
    expect(data).toMatchObject({ attempt: 1, attemptEnded: true, dispatchEnded: true });
    expect(data.lines.map(({ kind }) => kind)).toContain('command');
    const raw = await box.cmo(['logs', '--raw', id]);
    expect(
      raw.stdout
        .trimEnd()
        .split('\n')
        .every((line) => line.startsWith('{"')),
    ).toBe(true);
  });

  test('follows from one attempt to the next until the dispatch has ended', async () => {
    const id = await box.submit('[[sim:empty times=1 then=slow seconds=1]]', '--pin', 'codex', '--read-only');
    const { code, stdout } = await box.cmo(['logs', '-f', id]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^attempt \d on codex/);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .filter((line) => line.includes('slow but done')),
    ).toHaveLength(1);
    expect((await box.wait(id)).ok).toBe(true);
    const first = await box.cmo(['logs', '--attempt', '1', id]);
    expect(first.stdout).toContain('stderr: Warning: no last agent message');
  });

  test('refuses what cannot be meant', async () => {
    expect(await box.cmo(['logs'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('logs of what?') as string,
    });
    expect((await box.cmo(['logs', '--daemon', 'd-01JE0000000000000000000000'])).code).toBe(2);
    expect((await box.cmo(['logs', 'd-01JE0000000000000000000000'])).code).toBe(2);
  });

  test('shows the daemon’s own log for people, and as it is', async () => {
    const { stdout } = await box.cmo(['logs', '--daemon']);
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d info  ready /m);
    const raw = await box.cmo(['logs', '--daemon', '--raw']);
    expect(
      raw.stdout
        .trimEnd()
        .split('\n')
        .every((line) => (JSON.parse(line) as { level: string }).level !== ''),
    ).toBe(true);
  });
});

test('a log that is rotated while it is followed is shown whole and once', async () => {
  const folder = tempFolder('follow');
  const path = join(folder, 'daemon.log');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, 'eins\nzwe');
  const lines: string[] = [];
  let goOn = true;
  const following = followLog(folder, 'daemon.log', {
    follow: true,
    goOn: () => goOn,
    line: (text) => lines.push(text),
  });
  await waitUntil(() => lines.length === 1);
  appendFileSync(path, 'i ✓\n');
  await waitUntil(() => lines.length === 2);
  appendFileSync(path, 'drei\n');
  renameSync(path, `${path}.1`);
  writeFileSync(path, 'vier\n');
  await waitUntil(() => lines.length === 4);
  goOn = false;
  expect(await following).toBe(true);
  expect(lines).toEqual(['eins', 'zwei ✓', 'drei', 'vier']);
  expect(await followLog(folder, 'none.log', { follow: false, goOn: () => true, line: () => undefined })).toBe(false);
});
