import pc from 'picocolors';
import { expect, test } from 'vitest';
import type { StatusData } from '#contract';
import { statusText } from '#cli/output/status-text';

process.env['TZ'] = 'UTC';
const NOW = Date.parse('2026-11-30T03:00:00Z');

const status: StatusData = {
  version: '0.1.0',
  protocol: 1,
  pid: 42,
  node: 'box-1',
  service: false,
  startedAt: '2026-11-30T02:00:00Z',
  running: 2,
  redis: { private: true, address: '/s/redis.sock', pid: 41, version: '7.0.15', warnings: ['appendonly is off'] },
  counts: {
    queued: 3,
    running: 2,
    retrying: 0,
    succeeded: 10,
    failed: 1,
    cancelled: 0,
    timed_out: 0,
    deferred: 0,
    expired: 0,
  },
  lanes: [
    {
      id: 'codex',
      vendor: 'openai',
      account: 'codex',
      command: 'codex',
      installed: true,
      endpoint: null,
      inFlight: 2,
      closed: null,
      paused: false,
      reading: { source: 'codex session log', writtenAt: '2026-11-30T02:59:48Z' },
      windows: [
        {
          id: 'five_hour',
          kind: 'five_hour',
          usedPercent: 12,
          reserved: 1,
          settling: 0.5,
          estimated: 0,
          effective: 13.5,
          resetsAt: '2026-11-30T05:15:00Z',
        },
        {
          id: 'weekly',
          kind: 'weekly',
          usedPercent: 90,
          reserved: 0,
          settling: 0,
          estimated: 0,
          effective: 90,
          resetsAt: null,
        },
      ],
    },
    {
      id: 'claude',
      vendor: 'anthropic',
      account: 'claude',
      command: 'claude',
      installed: true,
      endpoint: '127.0.0.1:9',
      inFlight: 0,
      closed: { until: '2026-11-30T03:20:00Z', reason: 'usage_limit' },
      paused: false,
      reading: null,
      windows: [],
    },
    {
      id: 'third',
      vendor: 'anthropic',
      account: 'claude',
      command: 'claude3',
      installed: false,
      endpoint: null,
      inFlight: 0,
      closed: null,
      paused: false,
      reading: null,
      windows: [],
    },
  ],
  control: { pauses: [], drains: [], slots: [] },
};

test('status tells the binding window first, the vendor’s numbers with their age, and dark meters as dark', () => {
  expect(statusText(status, pc.createColors(false), NOW)).toEqual([
    'daemon   up for 1h 00m, pid 42, node box-1, version 0.1.0',
    'redis    private: /s/redis.sock, 7.0.15, pid 41',
    '         appendonly is off',
    'work     2 running here; on record: 3 queued, 2 running, 10 succeeded, 1 failed',
    'lane     codex: 2 in flight, as of 12s ago, from codex session log',
    '          weekly  █████████·  90%                                              reset not stated',
    '          5-hour  █·········  12%  effective 13.5% (1 reserved, 0.5 settling)  resets 05:15 (in 2h 15m)',
    'lane     claude: 0 in flight, endpoint 127.0.0.1:9, closed (usage_limit) until 03:20 (in 20m 00s), meter dark: no reading yet, so few run at once',
    'lane     third: missing: claude3 is not on PATH, account claude',
  ]);
});

test('status says what persons have paused, drained and set, each with its reason', () => {
  const since = NOW - 600_000;
  const control: StatusData['control'] = {
    pauses: [
      { lane: 'codex', reason: 'I need it', since, until: Date.parse('2026-11-30T09:00:00Z') },
      { lane: null, reason: 'moving', since, until: null },
    ],
    drains: [{ node: 'box-1', reason: 'a new disk', since }],
    slots: [
      { of: 'account', name: 'codex', atOnce: 3 },
      { of: 'dark', name: '', atOnce: 1 },
    ],
  };
  const text = statusText({ ...status, control }, pc.createColors(false), NOW).join('\n');
  expect(text).toMatch(/^paused {3}lane codex, until .*09:00.*: I need it \(for 10m 00s\)$/m);
  expect(text).toMatch(/^paused {3}every lane, until `cmo resume --all`: moving/m);
  expect(text).toMatch(/^drained {2}box-1 starts nothing .*: a new disk/m);
  expect(text).toMatch(/^slots {4}account codex: 3 at once, set by hand$/m);
  expect(text).toMatch(/^slots {4}each account while its meter is dark: 1 at once/m);
});
