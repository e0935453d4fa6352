import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openFlow, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
afterEach(() => box.close());

const MB = 1024;

/** kB of the process: now, and the most since the last `forget`. */
function memory(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? Number.NaN);
  return { now: field('VmRSS'), peak: field('VmHWM') };
}

function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

test.each([
  ['claude', 'lines'],
  ['codex', 'line'],
])(
  'a %s that floods a gigabyte of output (%s) costs the daemon under 50 MB, is ended, and is not run again',
  async (lane, form) => {
    box = openFlow();
    await box.run('[[sim:echo]]', '--pin', lane);
    const daemon = box.daemon();
    forgetPeak(daemon);
    const idle = memory(daemon).now;
    const { code } = await box.cmo([
      'run',
      '--json',
      '--pin',
      lane,
      '--no-failover',
      '--prompt',
      `[[sim:flood mb=1024 form=${form}]]`,
    ]);
    expect(code).toBe(1);
    const [row] = await box.ls('--state', 'failed');
    const id = row?.id ?? '';
    const grown = memory(daemon).peak - idle;
    console.log(`${lane}, ${form}: the daemon grew by ${Math.round(grown / MB)} MB`);
    const said = box
      .linesOf(id)
      .map((line) => (line.kind === 'attempt' ? [line.class, line.words, line.notes] : [line.state, line.attempts]));
    expect(said).toEqual([
      ['deterministic', expect.stringContaining('more output than is read'), ['ended-by-us:overflow']],
      ['failed', 1],
    ]);
    expect(grown).toBeLessThan(50 * MB);
    // Its end takes a while, and it goes on writing; what nobody reads is not kept.
    expect(statSync(join(box.paths.runs, 'done', `${id}.1`, 'out')).size).toBe(512 * 1024 * 1024 + 1);
    expect(box.daemon()).toBe(daemon);
    expect(
      (
        await problemsAtRest(
          box,
          box.receipts().flatMap((line) => (line.kind === 'dispatch' ? [line.id] : [])),
        )
      ).filter((problem) => !problem.includes('dispatches')),
    ).toEqual([]);
  },
  120_000,
);
