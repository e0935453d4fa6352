import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { layOutFiles } from '#cli/explain/lay-out-files';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cmo-lay-out-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const path = 'sessions/2026/11/20/rollout-x.jsonl';

describe('the files of an explain input', () => {
  it('are where the input puts them, with their text and time', async () => {
    expect(await layOutFiles([{ path, text: 'é\u0000\n', mtime: '2026-11-20T03:14:00Z' }], folder)).toMatchObject({
      ok: true,
    });
    expect(await readFile(join(folder, path), 'utf8')).toBe('é\u0000\n');
    expect((await stat(join(folder, path))).mtimeMs).toBe(Date.UTC(2026, 10, 20, 3, 14));
  });

  it('have their pads before and after, as valid lines of the wanted length that are no reading', async () => {
    await layOutFiles(
      [
        {
          path,
          text: 'mine',
          padBefore: { bytes: 3000, lineBytes: 1000 },
          padAfter: { bytes: 5_000_000, lineBytes: 2_000_000, note: 'x' },
        },
      ],
      folder,
    );
    const lines = (await readFile(join(folder, path), 'utf8')).split('\n');
    expect(lines.map(({ length }) => length + 1)).toEqual([1000, 1000, 1000, 5, 2_000_000, 2_000_000, 2_000_000, 1]);
    for (const line of lines.filter((one) => one !== 'mine' && one !== ''))
      expect((JSON.parse(line) as { type: string }).type).toBe('response_item');
  });

  it('have exactly the lines of a pad of many short ones', async () => {
    await layOutFiles([{ path, text: '', padAfter: { bytes: 3_000_000, lineBytes: 1 } }], folder);
    const text = await readFile(join(folder, path), 'utf8');
    expect(text.length).toBe(Math.ceil(3_000_000 / 256) * 256);
    expect(new Set(text.trimEnd().split('\n')).size).toBe(1);
  });

  it.each([
    ['no list', {}, 'files must be an array'],
    ['no object', [7], 'files[0]: must be an object'],
    ['no path', [{ text: '' }], 'files[0]: path must be a text'],
    ['a path that leaves the folder', [{ path: 'a/../../b', text: '' }], 'files[0]: path must lie inside the folder'],
    ['an absolute path', [{ path: '/tmp/b', text: '' }], 'files[0]: path must lie inside the folder'],
    ['no text', [{ path: 'a', text: 7 }], 'files[0]: text must be a text'],
    [
      'a time without an offset',
      [{ path: 'a', text: '', mtime: '2026-11-20T03:14:00' }],
      'files[0]: mtime must be an ISO 8601 time with its offset',
    ],
    [
      'a pad without a size',
      [{ path: 'a', text: '', padAfter: {} }],
      'files[0]: padBefore and padAfter must be {bytes, lineBytes}, whole numbers',
    ],
    [
      'a pad larger than any disk',
      [{ path: 'a', text: '', padAfter: { bytes: 1e15 } }],
      'files[0]: padBefore and padAfter must be {bytes, lineBytes}, whole numbers',
    ],
    [
      'pads that are too large together',
      [1, 2].map((n) => ({ path: `${n}`, text: '', padAfter: { bytes: 3 * 1024 ** 3 } })),
      'files: 6442450944 bytes in all, the most is 4294967296',
    ],
  ])('are refused as a whole, with the member named, when there is %s', async (_, input, error) => {
    expect(
      await layOutFiles(Array.isArray(input) ? [{ path: 'good', text: '' }, ...(input as unknown[])] : input, folder),
    ).toEqual({ ok: false, error: error.replace('files[0]', 'files[1]') });
    expect(existsSync(join(folder, 'good'))).toBe(false);
  });
});
