import { describe, expect, test } from 'vitest';
import { adapterFor } from '#vendors';
import { LineSplitter } from '#vendors/line-splitter';
import { exitFacts, init, kinds, message, result, run, said, started, turn } from './runs.js';

describe('lines', () => {
  const lines = (text: string, size: number, limits = { lineBytes: 100, totalBytes: 10_000 }) => {
    const splitter = new LineSplitter(limits);
    const bytes = Buffer.from(text);
    const out: string[] = [];
    for (let start = 0; start < bytes.length; start += size)
      out.push(...splitter.push(bytes.subarray(start, start + size)));
    return { out, rest: splitter.rest(), splitter };
  };

  test('are the same in pieces of any size, multi-byte characters whole', () => {
    const text = 'naïve – 日本語 ✓\n\n🖐🖐\r\nlast';
    for (let size = 1; size < 40; size++)
      expect(lines(text, size)).toMatchObject({ out: ['naïve – 日本語 ✓', '', '🖐🖐\r'], rest: 'last' });
  });

  test('past their cap are dropped to their end, and the next one is read', () => {
    for (const size of [1, 7, 1000]) {
      const { out, splitter } = lines(`${'x'.repeat(300)}\nafter\n`, size);
      expect(out).toEqual(['after']);
      expect(splitter.dropped).toBe(1);
    }
  });

  test('that are no JSON are held up to a megabyte, whatever comes in front of an event', () => {
    const limits = { lineBytes: 4 * 1024 * 1024, totalBytes: 2 ** 40 };
    const long = 'x'.repeat(2_000_000);
    for (const size of [1000, 64 * 1024]) {
      const { out, splitter } = lines(
        `${long}\n  \t{"a":"${long}"}\n\u001b[0m[${long}\n\ufeff{"${long}\n"${long}\n`,
        size,
        limits,
      );
      expect(out.map((line) => line.trimStart().slice(0, 3).codePointAt(0))).toEqual([0x7b, 0x1b, 0x7b]);
      expect(splitter.dropped).toBe(2);
    }
  });

  test('do not keep a buffer that the caller uses again', () => {
    const splitter = new LineSplitter();
    const buffer = Buffer.from('abc');
    splitter.push(buffer);
    buffer.fill('z');
    expect(splitter.push(Buffer.from('d\n'))).toEqual(['abcd']);
  });
});

describe('a run that floods', () => {
  test('is asked to end once, and is neither kept nor read on', () => {
    const reader = adapterFor('codex').reader({ totalBytes: 1_000_000 });
    const chunk = Buffer.alloc(64 * 1024, 'x\n');
    const before = process.memoryUsage().rss;
    const signals = Array.from({ length: 16_384 }, () => reader.out(chunk)).flat();
    expect(signals).toEqual([{ kind: 'flood', bytes: expect.any(Number) as number }]);
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
    expect(reader.finish(exitFacts({ exitCode: 143 }))).toMatchObject({
      ok: false,
      failure: { class: 'deterministic' },
      began: 'unknown',
    });
  });

  test('after its answer keeps the answer', () => {
    const { reading, signals } = run(
      'claude',
      `${JSON.stringify(init())}\n${JSON.stringify(result('done'))}\n${'y'.repeat(5000)}\n`,
      {},
      { totalBytes: 2000, pieces: 100 },
    );
    expect(reading).toMatchObject({ ok: true, text: 'done' });
    expect(signals.at(-1)?.kind).toBe('flood');
  });

  test('without a newline holds no more than one line', () => {
    const reader = adapterFor('claude').reader({ lineBytes: 1_000_000, totalBytes: 2 ** 40 });
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 16_384; i++) reader.out(chunk);
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
    reader.out(Buffer.from(`\n${JSON.stringify(result('after all'))}\n`));
    expect(reader.finish(exitFacts())).toMatchObject({ ok: true, text: 'after all', began: 'unknown' });
  });

  test('on stderr is reported with the number of bytes', () => {
    const { reading } = run(
      'claude',
      [init()],
      { exitCode: 143, signal: 'SIGTERM', flooded: true },
      { err: 'e'.repeat(70_000) },
    );
    expect(reading).toMatchObject({
      failure: { class: 'deterministic', words: expect.stringContaining('(70000 bytes)') as string },
    });
  });

  test('of stderr keeps its end', () => {
    const reader = adapterFor('codex').reader();
    for (let i = 0; i < 20_000; i++) reader.err(Buffer.from(`2026-11-20T03:14:59Z DEBUG line ${String(i)}\n`));
    reader.err(Buffer.from('Error: No space left on device (os error 28)\n'));
    expect(reader.finish(exitFacts({ exitCode: 1 }))).toMatchObject({
      failure: { class: 'environment', boxWide: true },
    });
  });
});

test('an answer of 20 MB in one line is read', () => {
  const text = 'x'.repeat(20 * 1024 * 1024);
  const outcome = run('claude', [init(), result(text)], {}, { pieces: 64 * 1024 });
  expect(outcome.reading.ok && outcome.reading.text.length).toBe(text.length);
  expect(kinds(outcome).at(-1)).toBe('final');
});

describe('a line that is too long to be read', () => {
  const limits = { lineBytes: 100_000, totalBytes: 2 ** 40, pieces: 4096 };
  const long = 'x'.repeat(200_000);

  test('in place of the answer is reported, and the run is not repeated at new cost', () => {
    for (const [kind, out] of [
      ['claude', [init(), result(long)]],
      ['codex', [started, turn, message(long)]],
    ] as const) {
      expect(run(kind, [...out], {}, limits).reading).toMatchObject({
        ok: false,
        failure: { class: 'deterministic', words: expect.stringContaining('more output than is read') as string },
      });
    }
  });

  test('in the middle changes nothing: the answer counts, and without one the end does', () => {
    expect(run('claude', [init(), said(long), result('done')], {}, limits).reading).toMatchObject({
      ok: true,
      text: 'done',
    });
    expect(run('claude', [init(), said(long), said('more')], {}, limits).reading).toMatchObject({
      failure: { class: 'transient' },
    });
    expect(run('claude', [init(), said(long)], { exitCode: 137, signal: 'SIGKILL' }, limits).reading).toMatchObject({
      failure: { class: 'killed' },
    });
  });

  test('that is no event is noise, also at the end', () => {
    expect(run('claude', `${JSON.stringify(init())}\n${long}\n`, {}, limits).reading).toMatchObject({
      failure: { class: 'transient' },
    });
  });
});
