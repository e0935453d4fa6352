import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readClaudeUsage, readCodexSessions, readRateLimitEvent, verdict, type Probe } from '#probes';
import { DAY, HOUR, NOW, rollout } from './rollouts.js';
import { scratchFolder } from './scratch-folder.js';

const LENGTH = { five_hour: 5 * HOUR, weekly: 7 * DAY, monthly: 31 * DAY, other: 366 * DAY };

/** What must hold of any reading, whatever it was read from. */
function sound(probe: Probe): void {
  if (probe.kind === 'dark') return void expect(probe.detail).not.toBe('');
  const { windows, reached, writtenAt } = probe.reading;
  expect(new Set(windows.map(({ id }) => id)).size).toBe(windows.length);
  for (const { kind, usedPercent, resetsAt } of windows) {
    expect(usedPercent).toBeGreaterThanOrEqual(0);
    expect(usedPercent).toBeLessThanOrEqual(100);
    if (resetsAt === null) continue;
    expect(Number.isInteger(resetsAt)).toBe(true);
    expect(resetsAt).toBeGreaterThan(NOW);
    expect(resetsAt).toBeLessThanOrEqual(NOW + LENGTH[kind]);
  }
  expect(writtenAt).toBeLessThanOrEqual(NOW);
  const { blockedUntil } = verdict(windows, reached);
  if (blockedUntil === null) return;
  expect(blockedUntil).toBeGreaterThan(NOW);
  expect(blockedUntil).toBeLessThanOrEqual(NOW + LENGTH.other);
}

type Edit = { at: number; kind: 'flip' | 'cut' | 'double' | 'drop' | 'number' | 'value'; size: number; text: string };

const VALUES = [
  'null',
  '-1',
  '0',
  '1e308',
  '-1e308',
  '99999999999999999999',
  '1e400',
  '"43"',
  '""',
  '"NaN"',
  'true',
  '[]',
  '{}',
  '1795151700',
  '"2026-11-20T05:15:00"',
  '"9999-12-31T23:59:59Z"',
  '5e-324',
];
const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  kind: fc.constantFrom('flip', 'cut', 'double', 'drop', 'number', 'value'),
  size: fc.integer({ min: 1, max: 400 }),
  text: fc.constantFrom(...VALUES),
});

/** Damage as disks, drifting schemas and hostile hands do it; numbers and values are replaced where they stand. */
function damaged(text: string, edits: readonly Edit[]): string {
  let result = text;
  for (const { at, kind, size, text: value } of edits) {
    const from = Math.floor(at * result.length);
    if (kind === 'flip')
      result =
        result.slice(0, from) +
        String.fromCharCode(result.charCodeAt(from) ^ (1 << (size % 7))) +
        result.slice(from + 1);
    else if (kind === 'cut') result = result.slice(0, from);
    else if (kind === 'double') result = result.slice(0, from) + result.slice(from, from + size) + result.slice(from);
    else if (kind === 'drop') result = result.slice(0, from) + result.slice(from + size);
    else {
      const found = kind === 'number' ? /(?<=":"?)-?[\d.]+/g : /(?<=":)(?:null|"[^"]*"|[\d.]+)/g;
      found.lastIndex = from;
      const hit = found.exec(result);
      if (hit) result = result.slice(0, hit.index) + value + result.slice(hit.index + hit[0].length);
    }
  }
  return result;
}

const inputsOf = (name: string): Record<string, unknown>[] =>
  (
    JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), 'utf8')) as {
      vectors: { input: Record<string, unknown> }[];
    }
  ).vectors.map(({ input }) => input);
const drift = edit.map((one): Edit => ({ ...one, kind: 'value' }));
const edits = fc.oneof(fc.array(edit, { minLength: 1, maxLength: 4 }), fc.array(drift, { minLength: 1, maxLength: 4 }));

describe('whatever is read, it never throws and never gives an impossible number', () => {
  it('from 10,000 damaged session files', async () => {
    const texts = inputsOf('codex-sessions').flatMap(({ files }) =>
      (files as { text: string }[]).map(({ text }) => text),
    );
    const home = await scratchFolder();
    let readings = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...texts), edits, async (text, done) => {
        await rollout(home, 'sessions/2026/11/20/rollout-2026-11-20T03-00-00-a.jsonl', damaged(text, done));
        const probe = await readCodexSessions({ roots: [`${home}/sessions`], account: 'codex', now: NOW });
        sound(probe);
        if (probe.kind === 'reading') readings++;
      }),
      { numRuns: 10_000 },
    );
    // Damage that leaves nothing to read would prove nothing.
    expect(readings).toBeGreaterThan(3000);
  }, 300_000);

  it('from 10,000 damaged answers of the usage endpoint', () => {
    let readings = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...inputsOf('claude-usage')),
        edits,
        fc.constantFrom(200, 200, 200, 200, 200, 200, 429, 500),
        (input, done, httpStatus) => {
          const probe = readClaudeUsage(
            {
              httpStatus,
              headers: input['headers'] as Record<string, unknown>,
              body: damaged(String(input['body']), done),
            },
            { account: 'claude', now: NOW },
          );
          sound(probe);
          if (probe.kind === 'reading') readings++;
        },
      ),
      { numRuns: 10_000 },
    );
    expect(readings).toBeGreaterThan(1000);
  });

  it('from 10,000 values in place of an answer or an event', () => {
    const figure = fc.oneof(fc.double(), fc.string(), fc.constant(null), fc.integer());
    const window = fc.record(
      { utilization: figure, resets_at: figure, resetsAt: figure, status: fc.constantFrom('allowed', 'rejected', '') },
      { requiredKeys: [] },
    );
    const key = fc.constantFrom(
      'five_hour',
      'seven_day',
      'seven_day_opus',
      'monthly',
      '__proto__',
      'constructor',
      'status',
      'unifiedWindows',
    );
    const event = fc.record(
      {
        status: fc.constantFrom('allowed', 'rejected'),
        rateLimitType: key,
        resetsAt: figure,
        utilization: figure,
        unifiedWindows: fc.dictionary(key, window),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.dictionary(key, window), event), (value) => {
        sound(readClaudeUsage({ httpStatus: 200, body: value }, { account: 'claude', now: NOW }));
        sound(readRateLimitEvent(value, { account: 'claude', seenAt: NOW, now: NOW }));
      }),
      { numRuns: 10_000 },
    );
  });
});
