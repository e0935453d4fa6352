import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linesFromEnd, type TailOptions } from '#probes/lines-from-end';
import { scratchFolder } from './scratch-folder.js';

async function linesOf(
  path: string,
  text: string | Uint8Array,
  options: Omit<TailOptions, 'needle'>,
): Promise<string[]> {
  await writeFile(path, text);
  const handle = await open(path);
  try {
    const lines: string[] = [];
    for await (const line of linesFromEnd(handle, Buffer.byteLength(text), { needle: '"rl"', ...options }))
      lines.push(line);
    return lines;
  } finally {
    await handle.close();
  }
}

describe('the lines of a file from its end', () => {
  it('are the same as those of a reader that splits the whole file, for any chunk and line length', async () => {
    const path = join(await scratchFolder(), 'file');
    const piece = fc.oneof(
      { weight: 3, arbitrary: fc.constant('"rl"') },
      { weight: 3, arbitrary: fc.string({ maxLength: 12 }) },
      fc.constant('é€😀'),
      fc.constant('x'.repeat(90)),
      fc.constant('"r'),
    );
    const line = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('').replace(/[\n\0]/g, ''));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 12 }),
        fc.constantFrom('\n', '\0', '\n\0\0'),
        fc.boolean(),
        fc.integer({ min: 1, max: 120 }),
        fc.integer({ min: 4, max: 200 }),
        async (lines, separator, closed, chunkBytes, maxLineBytes) => {
          const text = lines.join(separator) + (closed ? separator : '');
          const expected = lines
            .filter((one) => one.includes('"rl"') && Buffer.byteLength(one) <= maxLineBytes)
            .reverse();
          expect(await linesOf(path, text, { chunkBytes, maxLineBytes, allowance: { bytes: 1e9 } })).toEqual(expected);
        },
      ),
      { numRuns: 1500 },
    );
  });

  it('end when the allowance is used up, and say how much that was', async () => {
    const path = join(await scratchFolder(), 'file');
    const allowance = { bytes: 1000 };
    expect(
      await linesOf(path, `{"rl":1}\n${'x'.repeat(5000)}\n`, { chunkBytes: 500, maxLineBytes: 100, allowance }),
    ).toEqual([]);
    expect(allowance.bytes).toBeLessThanOrEqual(0);
    expect(allowance.bytes).toBeGreaterThan(-600);
  });

  it('cost a few readings of the file at most, however many needles a huge line holds', async () => {
    const path = join(await scratchFolder(), 'file');
    const allowance = { bytes: 1e9 };
    const huge = '"rl"'.repeat(100_000);
    expect(await linesOf(path, `{"rl":1}\n${huge}\n`, { chunkBytes: 4096, maxLineBytes: 2048, allowance })).toEqual([
      '{"rl":1}',
    ]);
    expect(1e9 - allowance.bytes).toBeLessThan(6 * huge.length);
  });

  it('are none in a file that was cut short meanwhile', async () => {
    const path = join(await scratchFolder(), 'file');
    await writeFile(path, '{"rl":1}\n');
    const handle = await open(path);
    const lines: string[] = [];
    for await (const line of linesFromEnd(handle, 10_000, {
      needle: '"rl"',
      chunkBytes: 64,
      maxLineBytes: 64,
      allowance: { bytes: 1e6 },
    }))
      lines.push(line);
    await handle.close();
    expect(lines).toEqual(['{"rl":1}']);
  });
});
