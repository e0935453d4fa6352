import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { layOutFiles } from '#cli/explain/lay-out-files';
import { readSessionFile } from '#probes/codex-session-file';
import { countLine, limits } from './rollouts.js';
import { scratchFolder } from './scratch-folder.js';

const MIB = 1024 ** 2;

/** Bytes read to find the reading of one file with these pads. */
async function bytesRead(pads: Record<string, unknown>, text = countLine(limits(25, 6))): Promise<number> {
  const home = await scratchFolder();
  const name = 'rollout-2026-11-20T03-00-00-a.jsonl';
  await layOutFiles([{ path: name, text, ...pads }], home);
  const path = join(home, name);
  const { size, mtimeMs } = await stat(path);
  const allowance = { bytes: 1e12 };
  const finding = await readSessionFile({ path, name, size, mtimeMs }, allowance);
  expect(finding).toMatchObject({
    entry: { slots: [{ usedPercent: 25 }, { usedPercent: 6 }] },
    bounded: false,
    unreadable: false,
  });
  return 1e12 - allowance.bytes;
}

describe('what is read of a session file to find its last reading', () => {
  it('does not grow with what was written before it', async () => {
    expect(await bytesRead({ padBefore: { bytes: 128 * MIB, lineBytes: 256 * 1024 } })).toBeLessThan(2 * MIB);
  });

  it('is what was written after it, once, however long those lines are', async () => {
    const read = await bytesRead({
      padBefore: { bytes: 64 * MIB, lineBytes: 256 * 1024 },
      padAfter: { bytes: 6 * MIB, lineBytes: 2 * MIB },
    });
    expect(read).toBeGreaterThan(6 * MIB);
    expect(read).toBeLessThan(8 * MIB);
  });

  it('is each part once, though ten thousand lines after it carry no limits', async () => {
    const empty = countLine(null).repeat(10_000);
    expect(await bytesRead({}, countLine(limits(25, 6)) + empty)).toBeLessThan(1.2 * empty.length + MIB);
  });
});
