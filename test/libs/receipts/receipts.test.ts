import { spawn } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import type { ReceiptLine } from '#contract';
import { appendReceipt, listReceipts, readReceipts } from '#receipts';
import { onLeave } from '../../support/on-leave.js';
import { signal, waitGone } from '../../support/processes.js';
import { tempFolder } from '../../support/temp.js';
import { sleep, waitUntil } from '../../support/wait-until.js';

const attempt = (dispatch: string, n: number, at: string, batch: string | null = null): ReceiptLine =>
  ({
    kind: 'attempt',
    id: `${dispatch}.${n}`,
    dispatch,
    attempt: n,
    at,
    batch,
    outcome: 'ok',
  }) as unknown as ReceiptLine;
const ended = (id: string, at: string, batch: string | null = null): ReceiptLine =>
  ({ kind: 'dispatch', id, at, batch, state: 'succeeded' }) as unknown as ReceiptLine;

const folderOf = (): string => join(tempFolder('receipts'), 'receipts');
const ids = (lines: ReceiptLine[]): string[] => lines.map(({ kind, id }) => `${kind} ${id}`);

async function written(lines: ReceiptLine[], folder = folderOf()): Promise<string> {
  for (const line of lines) await appendReceipt(folder, line);
  return folder;
}

describe('appending', () => {
  test('puts each line into the month of its own time, in UTC, privately', async () => {
    const folder = await written([
      attempt('d-a', 1, '2030-01-31T23:59:59.999Z'),
      ended('d-a', '2030-02-01T00:00:00.000Z'),
      attempt('d-b', 1, '2030-02-01T00:30:00.000+01:00'),
    ]);
    expect(readdirSync(folder).sort()).toEqual(['2030-01.jsonl', '2030-02.jsonl']);
    expect(readFileSync(join(folder, '2030-01.jsonl'), 'utf8').trim().split('\n')).toHaveLength(2);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, '2030-01.jsonl')).mode & 0o777).toBe(0o600);
  });

  test('does not become the tail of a line that a crash tore', async () => {
    const folder = await written([
      attempt('d-a', 1, '2030-01-01T00:00:00Z'),
      attempt('d-b', 1, '2030-01-01T00:00:00Z'),
    ]);
    const file = join(folder, '2030-01.jsonl');
    truncateSync(file, statSync(file).size - 20);
    await written([ended('d-c', '2030-01-02T00:00:00Z')], folder);
    expect(ids(await listReceipts(folder))).toEqual(['attempt d-a.1', 'dispatch d-c']);
  });

  test('throws when it could not be written, so that the line stays owed', async () => {
    const folder = tempFolder('receipts');
    writeFileSync(join(folder, 'receipts'), 'a file where the folder should be');
    await expect(appendReceipt(join(folder, 'receipts'), ended('d-a', '2030-01-01T00:00:00Z'))).rejects.toThrow();
  });
});

describe('reading', () => {
  const lines = [
    attempt('d-a', 1, '2030-01-10T00:00:00Z', 'night'),
    attempt('d-a', 2, '2030-01-11T00:00:00Z', 'night'),
    ended('d-a', '2030-01-11T00:00:01Z', 'night'),
    attempt('d-ab', 1, '2030-02-01T00:00:00Z'),
    ended('d-ab', '2030-02-02T00:00:00Z'),
  ];

  test('gives what was written, in order, whole', async () => {
    expect(await listReceipts(await written(lines))).toEqual(lines);
  });

  test('drops repeats by kind and id, the first stays', async () => {
    const folder = await written([...lines, ...lines, { ...lines[0], at: '2030-03-01T00:00:00Z' } as ReceiptLine]);
    expect(await listReceipts(folder)).toEqual(lines);
  });

  test('filters by time, dispatch and batch, all of them together', async () => {
    const folder = await written(lines);
    const of = async (filter: object): Promise<string[]> => ids(await listReceipts(folder, filter));
    expect(await of({ since: Date.parse('2030-01-11T00:00:00Z') })).toEqual([
      'attempt d-a.2',
      'dispatch d-a',
      'attempt d-ab.1',
      'dispatch d-ab',
    ]);
    expect(await of({ since: Date.parse('2030-02-01T00:00:01Z') })).toEqual(['dispatch d-ab']);
    expect(await of({ dispatch: 'd-a' })).toEqual(['attempt d-a.1', 'attempt d-a.2', 'dispatch d-a']);
    expect(await of({ batch: 'night', since: Date.parse('2030-01-11T00:00:01Z') })).toEqual(['dispatch d-a']);
    expect(await of({ batch: 'day' })).toEqual([]);
  });

  test('tells of lines that are no receipts and goes on behind them', async () => {
    const folder = await written(lines.slice(0, 1));
    appendFileSync(
      join(folder, '2030-01.jsonl'),
      '{"kind":"att\n\nnull\n[]\n{"kind":"other","id":"x","at":"y"}\n{"kind":"attempt"}\n',
    );
    await written(lines.slice(1), folder);
    writeFileSync(join(folder, 'notes.jsonl'), 'not ours\n');
    const unreadable: string[] = [];
    expect(await listReceipts(folder, { onUnreadable: (file, line) => unreadable.push(`${file} ${line}`) })).toEqual(
      lines,
    );
    expect(unreadable).toHaveLength(5);
    expect(unreadable[0]).toBe('2030-01.jsonl {"kind":"att');
  });

  test('reads lines and multi-byte characters that cross the ends of chunks', async () => {
    const many = Array.from(
      { length: 300 },
      (_, i) => ({ ...attempt(`d-${i}`, 1, '2030-01-01T00:00:00Z'), words: 'ü€😀'.repeat(i) }) as ReceiptLine,
    );
    expect(await listReceipts(await written(many))).toEqual(many);
  });

  test('stops when its reader stops, and an absent folder has no receipts', async () => {
    for await (const line of readReceipts(await written(lines))) {
      expect(line).toEqual(lines[0]);
      break;
    }
    expect(await listReceipts(folderOf())).toEqual([]);
  });
});

test('writers that are killed at any moment cost at most the line they were writing, and never mix theirs', async () => {
  const folder = folderOf();
  const outfile = join(tempFolder('writer'), 'writer.mjs');
  await build({
    entryPoints: [new URL('./fixtures/writer.ts', import.meta.url).pathname],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['cmo-source'],
    logLevel: 'warning',
  });
  const names = ['a', 'b', 'c', 'd'];
  for (let round = 0; round < 3; round++) {
    const writers = names.map(
      (name) => spawn(process.execPath, [outfile, folder, `${name}${round}`], { stdio: 'ignore' }).pid ?? 0,
    );
    for (const pid of writers) onLeave(() => signal(pid, 'SIGKILL'));
    await waitUntil(async () => {
      const seen = await listReceipts(folder);
      return names.every((name) => seen.filter(({ id }) => id.startsWith(`d-${name}${round}.`)).length > 20);
    });
    for (const pid of writers) {
      await sleep(3);
      signal(pid, 'SIGKILL');
      await waitGone(pid);
    }
  }
  const unreadable: string[] = [];
  const lines = await listReceipts(folder, { onUnreadable: (_, line) => unreadable.push(line) });
  expect(unreadable.length).toBeLessThanOrEqual(names.length * 3);
  for (const name of names) {
    // No gaps: what was written before is all there, in order.
    const numbers = lines.filter(({ id }) => id.startsWith(`d-${name}0.`)).map(({ id }) => Number(id.split('.')[1]));
    expect(numbers).toEqual(numbers.map((_, i) => i));
  }
});
