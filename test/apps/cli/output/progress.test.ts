import pc from 'picocolors';
import { expect, test } from 'vitest';
import type { Envelope } from '#contract';
import { progress } from '#cli/output/progress';
import { envelope } from '../support/fake-daemon.js';

type ForPeople = Parameters<typeof progress>[0];

const queued = (why: string): Envelope =>
  envelope('d-01JE0000000000000000000001', { state: 'queued', waiting: { for: 'slot', why, until: null } });

test('without a terminal only a long wait is reported, once for each reason', () => {
  const notes: string[] = [];
  let now = 0;
  const output = { stderrIsTerminal: false, note: (text: string) => void notes.push(text) } as ForPeople['output'];
  const context = { env: {}, output, paintNotes: pc.createColors(false), now: () => now };
  const { news } = progress(context, () => ['d-01JE0000000000000000000001']);
  const at = (seconds: number, seen: Envelope): void => {
    now = seconds * 1_000;
    news(seen);
  };
  at(0, queued('every slot of codex is taken'));
  at(20, queued('every slot of codex is taken'));
  at(25, envelope('d-01JE0000000000000000000001', { state: 'running' }));
  at(40, queued('every slot of codex is taken'));
  expect(notes).toEqual([]);
  at(60, queued('lane codex is paused: mine'));
  at(70, queued('lane codex is paused: mine'));
  at(130, queued('lane codex is paused: mine'));
  at(190, queued('every slot of codex is taken'));
  expect(notes).toEqual([
    'cmo: d-01JE0000000000000000000001 waiting-slot: lane codex is paused: mine',
    'cmo: d-01JE0000000000000000000001 waiting-slot: every slot of codex is taken',
  ]);
});

const SEVERAL = [1, 2, 3, 4].map((n) => `d-01JE000000000000000000000${n}`);

function several(stderrIsTerminal: boolean) {
  const told: string[] = [];
  const clock = { now: 0 };
  const write = (text: string): void => void told.push(text);
  const output = { stderrIsTerminal, note: write, raw: write } as ForPeople['output'];
  const context = { env: {}, output, paintNotes: pc.createColors(false), now: () => clock.now };
  const line = progress(context, () => SEVERAL);
  const one = (n: number, more: Partial<Envelope>): Envelope =>
    envelope(SEVERAL[n - 1] ?? '', { batch: 'night', durationMs: n * 60_000, ...more });
  return { told, clock, line, one };
}
const closed = { for: 'quota', why: 'codex refused work (usage_limit)', until: null } as const;

test('of several a person who watches sees how many have ended, how many run, and what the first of the others waits for', () => {
  const { told, line, one } = several(true);
  line.news(one(2, { state: 'running' }));
  expect(told.at(-1)).toBe('batch night: 0 of 4 ended, 1 running · 2m 00s');
  line.news(one(3, { state: 'queued', waiting: { for: 'slot', why: 'every slot is taken', until: null } }));
  expect(told.at(-1)).toBe('batch night: 0 of 4 ended, 1 running · 3m 00s');
  line.ended(one(2, { state: 'succeeded' }), () => told.push('its end'));
  expect(told.slice(-2)).toEqual(['\r\u001b[2K', 'its end']);
  line.news(one(3, { state: 'queued', waiting: closed }));
  expect(told.at(-1)).toBe('batch night: 1 of 4 ended · waiting-quota: codex refused work (usage_… · 3m 00s');
  expect(told.at(-1)?.length).toBe(79);
});

test('a long name of a batch leaves room for how far it is, and news that changes nothing is not drawn again', () => {
  const { told, line, one } = several(true);
  const named = (n: number, more: Partial<Envelope>): Envelope => one(n, { ...more, batch: 'n'.repeat(64) });
  line.news(named(2, { state: 'running' }));
  expect(told).toEqual([`batch ${'n'.repeat(23)}…: 0 of 4 ended, 1 running · 2m 00s`]);
  line.news(named(2, { state: 'running' }));
  line.news(named(1, { state: 'queued' }));
  expect(told).toHaveLength(1);
  line.news(named(1, { state: 'running' }));
  expect(told.slice(1)).toEqual(['\r\u001b[2K', expect.stringContaining('2 running')]);
});

test('for several dispatches a log gets each reason why none of them runs, once', () => {
  const { told, clock, line, one } = several(false);
  const at = (seconds: number, envelope: Envelope): void => {
    clock.now = seconds * 1_000;
    line.news(envelope);
  };
  at(0, one(1, { state: 'running' }));
  at(10, one(2, { state: 'queued', waiting: closed }));
  at(60, one(3, { state: 'queued', waiting: closed }));
  expect(told).toEqual([]);
  line.ended(one(1, { state: 'succeeded' }), () => undefined);
  at(70, one(2, { state: 'queued', waiting: closed }));
  at(100, one(2, { state: 'queued', waiting: closed }));
  at(200, one(3, { state: 'queued', waiting: closed }));
  expect(told).toEqual(['cmo: batch night: 1 of 4 ended · waiting-quota: codex refused work (usage_limit)']);
});
