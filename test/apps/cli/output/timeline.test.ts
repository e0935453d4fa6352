import pc from 'picocolors';
import { expect, test } from 'vitest';
import type { DispatchRecord, PastAttempt } from '#contract';
import { timeline } from '#cli/output/timeline';

process.env['TZ'] = 'UTC';
const NOW = Date.parse('2026-11-30T03:00:00Z');
const paint = pc.createColors(false);

const attempt = (more: Partial<PastAttempt>): PastAttempt => ({
  attempt: 1,
  lane: 'codex',
  vendor: 'openai',
  model: 'gpt-5.6-terra',
  effort: 'medium',
  tier: 'balanced',
  node: 'box-1',
  outcome: 'failed',
  class: 'usage_limit',
  resetsAt: '2026-11-30T05:15:00Z',
  words: "You've hit your usage limit.\nTry again at 5:15 AM.",
  startedAt: NOW - 120_000,
  endedAt: NOW - 115_000,
  exitCode: 1,
  signal: null,
  usage: null,
  session: 's-1',
  next: 'switch: usage_limit: to another lane (claude)',
  ...more,
});

const record: DispatchRecord = {
  schema: 1,
  id: 'd-01JE0000000000000000000001',
  state: 'succeeded',
  attempt: 2,
  lane: 'claude',
  account: 'claude',
  home: 'box-1',
  node: 'box-1',
  class: 'normal',
  project: 'checkout',
  access: 'read',
  tier: 'balanced',
  cost: {},
  tag: 1,
  submittedAt: NOW - 130_000,
  notBefore: null,
  waitUntil: null,
  startBy: null,
  endBy: null,
  left: [],
  retriedBy: null,
  startedAt: NOW - 110_000,
  endedAt: NOW - 60_000,
  cancelAsked: false,
  request: {
    id: 'd-01JE0000000000000000000001',
    cwd: '/home/me/checkout',
    role: 'judge',
    hasSchema: true,
    envNames: ['HOME', 'PATH'],
    labels: { case: '7' },
    parent: 'd-01JE0000000000000000000000.1',
  },
  decision: {
    ok: true,
    defer: false,
    lane: 'codex',
    vendor: 'openai',
    model: 'gpt-5.6-terra',
    effort: 'medium',
    degradedReview: true,
    fallback: 'claude',
    weight: 0.613,
    tier: 'balanced',
    reason: 'judge · complexity 4/5 · length s → balanced | codex healthy (27%)',
    notes: ['degraded-review:exhausted'],
    factors: {
      role: 'judge',
      complexity: 4,
      length: 's',
      contextTokens: 0,
      needsSchema: true,
      needsRepoWrite: false,
      independentOf: 'codex',
      strictIndependence: false,
      pin: null,
      pinModel: null,
    },
    facts: {},
    states: {},
    laneStates: {},
    candidates: [
      { lane: 'codex', vendor: 'openai', score: 17.3, state: 'ok', percent: 27, resetsAt: null, why: ['healthy'] },
    ],
    independence: 'same-vendor',
  },
  history: [
    attempt({}),
    attempt({
      attempt: 2,
      lane: 'claude',
      vendor: 'anthropic',
      model: 'sonnet',
      outcome: 'ok',
      class: null,
      resetsAt: null,
      words: null,
      startedAt: NOW - 110_000,
      endedAt: NOW - 60_000,
      exitCode: 0,
      usage: { inputTokens: 1200, outputTokens: 11 },
      session: null,
      next: 'answered',
    }),
  ],
  takeUp: null,
  error: null,
  needsLook: false,
};

test('a timeline shows a dispatch in order: the request, the decision, each attempt and what followed, and its state', () => {
  expect(timeline({ record, receipts: [], waiting: null }, paint, NOW)).toEqual([
    'd-01JE0000000000000000000001  succeeded',
    '  asked      judge, complexity 4/5, length s, access read, class normal, schema',
    '  in         /home/me/checkout (project checkout)',
    '  submitted  02:57 (2m 10s ago)',
    '  by         the agent of attempt d-01JE0000000000000000000000.1',
    '  label      case=7',
    '  variables  HOME PATH',
    '',
    '  decision   judge · complexity 4/5 · length s → balanced | codex healthy (27%)',
    '             codex gpt-5.6-terra effort=medium, weight 0.613',
    '  review     same-vendor (degraded: the reviewer shares the maker’s blind spots)',
    '  note       degraded-review:exhausted',
    '  candidate  codex: ok 27%, score 17.3 (healthy)',
    '',
    '02:58:00  attempt 1 on codex gpt-5.6-terra effort=medium, node box-1: failed: usage_limit after 5s',
    "  said       You've hit your usage limit. Try again at 5:15 AM.",
    '  resets     05:15 (in 2h 15m)',
    '  exit       1',
    '  session    s-1',
    '  then       switch: usage_limit: to another lane (claude)',
    '02:58:10  attempt 2 on claude sonnet effort=medium, node box-1: ok after 50s',
    '  exit       0',
    '  tokens     1200 in, 11 out',
    '  then       answered',
    '02:59:00  succeeded after 1m 10s',
    '  answer     cmo result d-01JE0000000000000000000001',
  ]);
});

test('a waiting dispatch shows what it waits for, and a running one where it runs', () => {
  const queued: DispatchRecord = { ...record, state: 'queued', history: [], endedAt: null, startedAt: null };
  expect(
    timeline(
      {
        record: queued,
        receipts: [],
        waiting: { for: 'quota', why: 'codex refused work', until: '2026-11-30T05:15:00Z' },
      },
      paint,
      NOW,
    ).at(-1),
  ).toBe('waiting-quota: codex refused work, until 05:15 (in 2h 15m)');
  const { weight, tier, reason, notes, factors, facts, states, laneStates, candidates } = record.decision;
  const common = { weight, tier, reason, notes, factors, facts, states, laneStates, candidates };
  const decision = { ...common, ok: false, defer: true, reasonCode: 'both-out', resumeAfter: null, independence: null };
  const told = (state: DispatchRecord['state']): string =>
    timeline(
      { record: { ...queued, state, decision } as DispatchRecord, receipts: [], waiting: null },
      paint,
      NOW,
    ).join('\n');
  expect(told('queued')).toMatch(/^ +no lane was open: both-out$/m);
  expect(told('deferred')).toMatch(/^ +deferred: both-out$/m);
  const running: DispatchRecord = { ...record, state: 'running', endedAt: null, cancelAsked: true };
  const lines = timeline({ record: running, receipts: [], waiting: null }, paint, NOW);
  expect([lines[0], lines.at(-1)]).toEqual([
    'd-01JE0000000000000000000001  running (cancel asked)',
    '02:58:10  attempt 2 runs on claude, node box-1, for 1m 50s',
  ]);
});

test('a folder whose name holds words for the terminal is told without them', () => {
  const request = { ...record.request, cwd: '/home/me/\u001b[2Jx\n\u202ey' };
  const told = timeline({ record: { ...record, request }, receipts: [], waiting: null }, paint, NOW);
  expect(told).toContain('  in         /home/me/[2Jxy (project checkout)');
});
