import pc from 'picocolors';
import { expect, test } from 'vitest';
import type { Envelope } from '#contract';
import { progress } from '#cli/output/progress';
import { envelope } from '../support/fake-daemon.js';

type ForPeople = Parameters<typeof progress>[0];

const queued = (why: string): Envelope =>
  envelope('d-01JE0000000000000000000001', { state: 'queued', waiting: { for: 'slot', why, until: null } });

test('where nobody watches only a wait that lasts is told, once for each reason', () => {
  const notes: string[] = [];
  let now = 0;
  const output = { stderrIsTerminal: false, note: (text: string) => void notes.push(text) } as ForPeople['output'];
  const { news } = progress({ env: {}, output, paintNotes: pc.createColors(false), now: () => now });
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
