import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  isEnded,
  type DispatchRequest,
  type Envelope,
  type ListData,
  type StatusData,
  type SubmitData,
} from '#contract';
import { call } from '../apps/daemon/home.js';
import { newId } from '../support/records.js';
import { waitUntil } from '../support/wait-until.js';
import { SCENARIOS as KNOWN } from '../vendor-sim/lib/scenarios.mjs';
import { openRealHome, type RealHome } from './real-home.js';

const KINDS = ['codex', 'claude'] as const;
type Kind = (typeof KINDS)[number];

/**
 * Classes of its attempts (`-` for an answer), what followed
 * each, its end, and the most requests that the vendor may see.
 */
type Row = [classes: string, next: string, state: string, requests: number];
type Scenario = { marker: string; more?: Partial<DispatchRequest>; codex: Row; claude: Row };

const ANSWER: Row = ['-', 'answered', 'succeeded', 1];
const limit = (cls: string, requests: number): Row => [cls, 'wait', 'deferred', requests];
const thrice = (cls: string, requests: number): Row => [`${cls} ${cls} ${cls}`, 'retry retry stop', 'failed', requests];
const stop = (cls: string, requests: number): Row => [cls, 'stop', 'failed', requests];
const silent: Row = ['silence silence', 'retry stop', 'failed', 2];
const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['verdict'],
  properties: { verdict: { type: 'string' } },
};

/**
 * What each scenario of the simulator becomes with the real CLI, alone on its lane: one retry of the CLI's own is
 * allowed, and none where the vendor refused.
 */
const SCENARIOS: Scenario[] = [
  { marker: 'echo', codex: ANSWER, claude: ANSWER },
  { marker: 'json', more: { schema }, codex: ANSWER, claude: ANSWER },
  {
    marker: 'tool cmd="echo $PWD > wrote-$CMO_TEST_KIND.txt"',
    more: { role: 'implement' },
    codex: ['-', 'answered', 'succeeded', 2],
    claude: ['-', 'answered', 'succeeded', 2],
  },
  { marker: 'slow seconds=3', codex: ANSWER, claude: ANSWER },
  { marker: 'huge mb=2', codex: ANSWER, claude: ANSWER },
  { marker: 'hang stage=headers', codex: silent, claude: silent },
  { marker: 'hang stage=stream', codex: silent, claude: silent },
  { marker: 'rate-limit', codex: limit('rate_limit', 2), claude: limit('rate_limit', 2) },
  { marker: 'usage-limit', codex: limit('usage_limit', 2), claude: limit('usage_limit', 2) },
  { marker: 'usage-limit window=seven_day', codex: limit('usage_limit', 2), claude: limit('usage_limit', 2) },
  { marker: 'auth-expired', codex: limit('auth', 2), claude: limit('auth', 2) },
  { marker: 'forbidden', codex: limit('auth', 2), claude: limit('auth', 2) },
  // claude drops its beta features one by one.
  { marker: 'bad-request', codex: stop('deterministic', 1), claude: stop('deterministic', 6) },
  { marker: 'too-long', codex: stop('deterministic', 1), claude: stop('deterministic', 1) },
  { marker: 'no-model', codex: thrice('model_unavailable', 3), claude: thrice('model_unavailable', 6) },
  { marker: 'server-error', codex: thrice('transient', 12), claude: thrice('transient', 6) },
  { marker: 'overloaded', codex: thrice('overloaded', 6), claude: thrice('overloaded', 6) },
  { marker: 'cut', codex: thrice('transient', 6), claude: thrice('transient', 9) },
  { marker: 'truncated', codex: thrice('transient', 6), claude: thrice('transient', 9) },
  { marker: 'stream-error kind=overloaded', codex: thrice('overloaded', 6), claude: thrice('overloaded', 6) },
  { marker: 'stream-error kind=rate-limit', codex: limit('rate_limit', 2), claude: limit('rate_limit', 2) },
  { marker: 'stream-error kind=server', codex: thrice('transient', 6), claude: thrice('transient', 6) },
  // claude names no window in the middle of a stream: the refusal is short until a reading says otherwise.
  { marker: 'stream-error kind=usage-limit', codex: limit('usage_limit', 2), claude: limit('rate_limit', 2) },
  { marker: 'empty', codex: thrice('transient', 3), claude: thrice('transient', 6) },
  { marker: 'incomplete', codex: stop('deterministic', 1), claude: stop('deterministic', 4) },
];

describe('every scenario, each in a lane and an account of its own, all at once', () => {
  let home: RealHome;
  const ends = new Map<string, { id: string; row: Row }>();

  beforeAll(async () => {
    const silence = '15s';
    home = await openRealHome({ slots: { account: 4, node: 6, dark: 4 }, holdBack: { slots: 0, points: 0 } }, (apart) =>
      Object.fromEntries(
        SCENARIOS.flatMap((_, i) => KINDS.map((kind) => [`${kind}-${i}`, { ...apart(kind, String(i)), silence }])),
      ),
    );
    await home.cmo(['up']);
    const sent = SCENARIOS.flatMap(({ marker, more }, i) =>
      KINDS.map((kind) => ({
        kind,
        marker,
        mark: `id=${kind}-${i}-`,
        request: {
          id: newId(),
          prompt: `Do it. [[sim:${marker} id=${kind}-${i}-]]`,
          cwd: home.work,
          env: { ...home.env, CMO_TEST_KIND: kind },
          role: 'research' as const,
          pin: `${kind}-${i}`,
          maxWaitMs: 0,
          ...more,
        },
      })),
    );
    const socket = join(home.stateDir, 'sockets', 'api.sock');
    const answer = await call<SubmitData>(socket, 'POST', '/v1/dispatches', {
      dispatches: sent.map(({ request }) => request),
    });
    if (!answer.ok) throw new Error(JSON.stringify(answer.error));
    const states = await waitUntil(
      async () => {
        const list = await call<ListData>(socket, 'GET', '/v1/dispatches?limit=1000');
        return list.ok && list.data.dispatches.every(({ state }) => isEnded(state))
          ? new Map(list.data.dispatches.map(({ id, state }) => [id, state]))
          : null;
      },
      { what: 'all scenarios to end', timeoutMs: 400_000, everyMs: 1_000 },
    );
    for (const { kind, marker, mark, request } of sent) {
      const attempts = home
        .receipts()
        .flatMap((line) => (line.kind === 'attempt' && line.dispatch === request.id ? [line] : []));
      const row: Row = [
        attempts.map((one) => one.class ?? '-').join(' '),
        attempts.map((one) => one.next.split(':')[0] ?? '').join(' '),
        states.get(request.id) ?? '?',
        home.bodies(mark).length,
      ];
      ends.set(`${kind} ${marker}`, { id: request.id, row });
    }
  }, 450_000);
  afterAll(() => home.close());

  test('none of the simulator’s is left out', () => {
    expect([...new Set(SCENARIOS.map(({ marker }) => marker.split(' ')[0]))].sort()).toEqual(Object.keys(KNOWN).sort());
  });

  test.each(
    SCENARIOS.flatMap(({ marker, ...rows }) => KINDS.map((kind): [Kind, string, Row] => [kind, marker, rows[kind]])),
  )('%s: %s', (kind, marker, [classes, next, state, most]) => {
    const row = ends.get(`${kind} ${marker}`)?.row;
    expect(row?.slice(0, 3)).toEqual([classes, next, state]);
    expect(row?.[3]).toBeGreaterThan(0);
    expect(row?.[3]).toBeLessThanOrEqual(most);
  });

  test.each(KINDS)('%s: a tool call wrote its file in the working directory', (kind) => {
    expect(existsSync(join(home.work, `wrote-${kind}.txt`))).toBe(true);
  });

  test.each(KINDS)(
    '%s: the value of the schema, the version of the CLI and the tokens stand on record',
    async (kind) => {
      const id = ends.get(`${kind} json`)?.id ?? '';
      const envelope = JSON.parse((await home.cmo(['result', '--json', id])).stdout) as Envelope;
      expect(envelope.resultJson).toEqual({ verdict: expect.any(String) as string });
      const [line] = envelope.receipts;
      expect(line).toMatchObject({ kind: 'attempt', cliVersion: kind === 'codex' ? '0.171.0' : '2.1.332' });
      expect(envelope.usage?.inputTokens).toBeGreaterThan(0);
      expect(envelope.usage?.outputTokens).toBeGreaterThan(0);
    },
  );
});

describe('a refusal moves the work to the other vendor by two requests at most', () => {
  let home: RealHome;
  beforeAll(async () => {
    home = await openRealHome({ holdBack: { slots: 0, points: 0 }, timing: { refusalMs: [200] } });
    await home.cmo(['up']);
  });
  afterAll(() => home.close());

  test.each(
    KINDS.flatMap((kind) => ['rate-limit', 'usage-limit', 'stream-error'].map((name): [Kind, string] => [kind, name])),
  )('%s: %s', async (kind, name) => {
    await home.admin('reset', {});
    // What the test before closed is open again.
    await waitUntil(
      async () => {
        const { data } = JSON.parse((await home.cmo(['status', '--json'])).stdout) as { data: StatusData };
        return data.lanes.every(
          ({ closed, windows }) =>
            (closed === null || Date.parse(closed.until) < Date.now()) &&
            windows.every(({ effective }) => effective < 90),
        );
      },
      { what: 'both accounts to be open', timeoutMs: 60_000, everyMs: 300 },
    );
    await home.admin('scenario', { vendor: kind, name, params: { resets_in: '1', kind: 'rate-limit' } });
    // What grades codex's work begins on claude, and degrades with its label when that closes.
    const flags = kind === 'claude' ? ['--role', 'review', '--independent-of', 'codex'] : ['--role', 'research'];
    const { envelope } = await home.run(['--max-wait', '1m', ...flags], 'Look at it.');
    expect(envelope).toMatchObject({ ok: true, failedOver: true, lane: kind === 'codex' ? 'claude' : 'codex' });
    expect(envelope.attempts.map(({ lane }) => lane)).toEqual([kind, kind === 'codex' ? 'claude' : 'codex']);
    if (kind === 'claude') expect(envelope).toMatchObject({ independence: 'same-vendor', degradedReview: true });
    expect((await home.requests(kind)).length).toBeLessThanOrEqual(2);
  });
});
