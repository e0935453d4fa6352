import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { AccountMeter, Decision, DispatchReceipt, ErrorBody, MetersFile } from '#contract';
import { decisionSchema } from '#contract/schemas/decision';
import type { BatchPlan } from '#cli/plan/plan-batch';
import { freshBox, type Box, type Ran } from './support/run-cli.js';

const STAND_INS = new URL('../../fixtures/bin', import.meta.url).pathname;
const both = (box: Box): Record<string, string> => ({ PATH: `${STAND_INS}:${box.env['PATH'] ?? ''}` });
const ahead = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

function account(id: 'codex' | 'claude', five: number, more: Partial<AccountMeter> = {}): AccountMeter {
  return {
    account: id,
    lanes: [
      {
        id,
        vendor: id === 'codex' ? 'openai' : 'anthropic',
        kind: id,
        command: id,
        installed: false,
        endpoint: null,
        hold: null,
      },
    ],
    windows: [
      {
        id: 'five_hour',
        kind: 'five_hour',
        scope: null,
        usedPercent: five,
        reserved: 0,
        settling: 0,
        estimated: 0,
        effective: five,
        resetsAt: ahead(2),
      },
    ],
    inFlight: 0,
    paused: false,
    closed: null,
    reading: { source: 'x', writtenAt: ahead(0), readAt: ahead(0), plan: null, reached: null, overage: null },
    freshnessMs: 10_000,
    lastRunEndedAt: null,
    dark: null,
    costs: [],
    ...more,
  };
}
function meters(box: Box, accounts: AccountMeter[], writtenAt = ahead(0)): void {
  mkdirSync(box.state, { recursive: true, mode: 0o700 });
  writeFileSync(
    join(box.state, 'meters.json'),
    JSON.stringify({
      schema: 'cmo.meters/1',
      node: 'n',
      writtenAt,
      pressure: { tight: 65, critical: 85, exhausted: 95 },
      accounts,
    } satisfies MetersFile),
  );
}
const parsed = (ran: Ran): Record<string, unknown> & { decision: Decision; error?: ErrorBody } =>
  JSON.parse(ran.stdout) as never;

test('a plan has the names of the tool that people come from, and ours', async () => {
  const box = await freshBox();
  meters(box, [account('codex', 20), account('claude', 60)]);
  const ran = await box.cmo(
    [
      'plan',
      '--role',
      'judge',
      '--complexity',
      '4',
      '--length',
      's',
      '--independent-of',
      'codex',
      '--schema',
      'schema.json',
    ],
    { env: both(box) },
  );
  expect(ran.code).toBe(2);
  writeFileSync(join(box.folder, 'schema.json'), '{"type": "object"}');
  const plan = parsed(
    await box.cmo(
      [
        'plan',
        '--role',
        'judge',
        '--complexity',
        '4',
        '--length',
        's',
        '--independent-of',
        'codex',
        '--schema',
        'schema.json',
        '--batch-name',
        'n',
      ],
      { env: both(box) },
    ),
  );
  expect(plan).toMatchObject({
    schema: 'cmo.envelope/1',
    ok: true,
    defer: false,
    state: null,
    provider: 'claude',
    lane: 'claude',
    vendor: 'anthropic',
    binary: 'claude',
    tier: 'balanced',
    model: 'sonnet',
    effort: 'medium',
    independence: 'cross-vendor',
    weight: 0.613,
    fallback: null,
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
    states: { codex: { state: 'ok', percent: 20 }, claude: { state: 'ok', percent: 60 } },
    notes: ['cross-model-forced:claude'],
    waiting: null,
    meters: { stale: false },
    batch: 'n',
    receipts: [],
  });
  expect(decisionSchema.safeParse(plan.decision).error).toBeUndefined();
  expect(plan['candidates']).toMatchObject([
    { provider: 'codex', state: 'ok' },
    { provider: 'claude', state: 'ok' },
  ]);
  const codex = parsed(await box.cmo(['plan', '--pin', 'codex', '--model', 'gpt-9'], { env: both(box) }));
  expect(codex).toMatchObject({
    provider: 'codex',
    model: 'gpt-9',
    reasoning: 'medium',
    effort: 'medium',
    notes: ['provider-pinned:codex', 'model-pinned'],
  });
  expect(parsed(await box.cmo(['plan'], { env: both(box) }))).toMatchObject({
    provider: 'codex',
    fallback: { provider: 'claude', binary: 'claude', tier: 'balanced', model: 'sonnet', effort: 'medium' },
  });
});

test('a plan needs no daemon, no Redis and no prompt, and leaves nothing behind', async () => {
  const box = await freshBox();
  const ran = await box.cmo(['plan', '--role', 'research', '--human'], { env: both(box) });
  expect([ran.code, ran.stdout.split('\n').slice(0, 3)]).toEqual([
    0,
    [
      'codex gpt-5.6-terra effort=medium (tier balanced, weight 0.438)',
      'else: claude sonnet',
      'why: research · complexity 3/5 · length m → balanced | codex unknown (no reading); preferred: worth 100 points of room',
    ],
  ]);
  expect(ran.stdout).toContain('meters: none was read here yet, so every window is unknown');
  expect((await box.cmo(['status'])).stdout).toContain('the daemon does not run');
});

test('where both windows are full a plan defers with exit 3, the reset and the code', async () => {
  const box = await freshBox();
  meters(box, [account('codex', 96), account('claude', 99)]);
  const ran = await box.cmo(['plan'], { env: both(box) });
  const plan = parsed(ran);
  expect([ran.code, plan.error?.code]).toEqual([3, 'CMO_E_DEFERRED']);
  expect(plan).toMatchObject({ ok: false, defer: true, state: 'deferred', reasonCode: 'both-out', provider: null });
  expect(typeof plan['resumeAfter']).toBe('string');
  const text = (await box.cmo(['plan', '--human'], { env: both(box) })).stdout;
  expect(text).toMatch(/^DEFER \(tier balanced, weight 0.512\): both-out\nresume after \d\d:\d\d/);
});

test('plan and guard call a lane paused or closed by its vendor, not exhausted, and say what to do', async () => {
  const box = await freshBox();
  const until = ahead(3);
  const accounts = [
    account('codex', 20, { paused: true }),
    account('claude', 30, { closed: { until, reason: 'usage_limit' } }),
  ];
  meters(
    box,
    accounts.map((one) => ({ ...one, lanes: one.lanes.map((lane) => ({ ...lane, installed: true })) })),
  );
  const text = (await box.cmo(['plan', '--human'], { env: both(box) })).stdout;
  expect(text).toMatch(/^ {2}codex: paused 20%, score/m);
  expect(text).toMatch(/^ {2}claude: closed \(usage_limit\) 30%, opens .*\d\d:\d\d \(in [^)]+\), score/m);
  expect(text).toMatch(/^fix: `cmo resume --all` takes the pause back; wait for the window/m);
  expect(parsed(await box.cmo(['plan'], { env: both(box) })).error?.details).toEqual([
    `codex: paused`,
    `claude: closed (usage_limit) until ${until}`,
  ]);
  const guard = await box.cmo(['guard'], { env: both(box) });
  expect([guard.code, guard.stderr]).toEqual([
    3,
    expect.stringMatching(
      /^no lane takes work: codex paused, claude closed \(usage_limit\); the first opens at .*; `cmo resume codex` /,
    ),
  ]);
  const { stdout } = await box.cmo(['guard', '--json'], { env: both(box) });
  expect(JSON.parse(stdout)).toMatchObject({ data: { safe: false, opensAt: until, paused: ['codex'] } });
});

test('a plan says what would wait: a window with no room for it, though its lane is not exhausted', async () => {
  const box = await freshBox();
  meters(box, [account('codex', 94.5), account('claude', 99)]);
  const ran = await box.cmo(['plan'], { env: both(box) });
  expect([ran.code, parsed(ran)['waiting']]).toMatchObject([
    0,
    { for: 'quota', why: 'the 5-hour window of codex has no room for it' },
  ]);
});

test('meters that are too old, or no meters at all, count as unknown and are called so; the CLIs are looked for now', async () => {
  const box = await freshBox();
  meters(box, [account('codex', 99), account('claude', 99)], ahead(-3));
  expect(parsed(await box.cmo(['plan'], { env: both(box) }))).toMatchObject({
    ok: true,
    provider: 'codex',
    states: { codex: { state: 'unknown', percent: null } },
    meters: { stale: true },
  });
  expect((await box.cmo(['plan', '--human'], { env: both(box) })).stdout).toContain(
    'meters: written 3h 00m ago, too old to say anything',
  );
  for (const text of ['', '{', '[]', '{"schema":"cmo.meters/1","accounts":null}']) {
    writeFileSync(join(box.state, 'meters.json'), text);
    expect(parsed(await box.cmo(['plan'], { env: both(box) }))).toMatchObject({
      ok: true,
      states: { claude: { state: 'unknown' } },
      meters: null,
    });
  }
  const none = await box.cmo(['plan'], { env: { PATH: dirname(process.execPath) } });
  expect([none.code, parsed(none)['states']]).toMatchObject([
    3,
    { codex: { state: 'missing' }, claude: { state: 'missing' } },
  ]);
});

test('a plan reads a dispatch file, and of a review the vendor from the receipt', async () => {
  const box = await freshBox();
  writeFileSync(
    join(box.folder, 'job.md'),
    'DISPATCH\r\nrole: review\r\nreview-of: d-01JE0000000000000000000001\r\nTASK\r\nx',
  );
  expect(parsed(await box.cmo(['plan', '--dispatch', 'job.md', '--json'], { env: both(box) })).error).toMatchObject({
    code: 'CMO_E_NO_DISPATCH',
  });
  mkdirSync(join(box.state, 'receipts'), { recursive: true, mode: 0o700 });
  const line: Partial<DispatchReceipt> = {
    kind: 'dispatch',
    schema: 'cmo.receipt/1',
    id: 'd-01JE0000000000000000000001',
    at: '2029-01-01T00:00:00Z',
    ok: true,
    state: 'succeeded',
    provider: 'claude',
    vendor: 'anthropic',
  };
  writeFileSync(join(box.state, 'receipts', '2029-01.jsonl'), `${JSON.stringify(line)}\n`);
  expect(parsed(await box.cmo(['plan', '--dispatch', 'job.md'], { env: both(box) }))).toMatchObject({
    provider: 'codex',
    independence: 'cross-vendor',
    factors: { independentOf: 'anthropic' },
  });
  expect(
    parsed(
      await box.cmo(['plan', '--dispatch', 'job.md', '--pin', 'claude', '--strict-independence', '--json'], {
        env: both(box),
      }),
    ).error,
  ).toMatchObject({ code: 'CMO_E_UNSATISFIABLE' });
});

test('a batch is planned as a whole (sums per lane and window, what waits and until when, the end), and refused as a submit would refuse it', async () => {
  const box = await freshBox();
  meters(box, [account('codex', 90), account('claude', 90)]);
  mkdirSync(dirname(box.configFile), { recursive: true });
  writeFileSync(box.configFile, '{"holdBack": {"points": 0}}');
  writeFileSync(
    join(box.folder, 'b.jsonl'),
    Array.from({ length: 13 }, (_, i) =>
      JSON.stringify({ prompt: `task ${i}`, ...(i === 0 && { role: 'review', independentOf: 'codex' }) }),
    ).join('\n'),
  );
  const ran = await box.cmo(['plan', '--batch', 'b.jsonl'], { env: both(box) });
  const { data } = JSON.parse(ran.stdout) as { data: BatchPlan };
  expect(ran.code).toBe(3);
  expect(data).toMatchObject({ total: 13, waits: [{ dispatches: 3 }], end: { at: null } });
  expect(data.windows).toMatchObject([
    { account: 'codex', window: 'five_hour', atOnce: 5 },
    { account: 'claude', window: 'five_hour', atOnce: 5 },
  ]);
  expect(data.dispatches[0]).toMatchObject({
    name: 'b.jsonl:1',
    lane: 'claude',
    independence: 'cross-vendor',
    waits: false,
  });

  mkdirSync(join(box.state, 'receipts'), { recursive: true, mode: 0o700 });
  const attempts = ['codex', 'claude'].map((lane, i) =>
    JSON.stringify({
      kind: 'attempt',
      id: `d-01JE000000000000000000000${i}.1`,
      at: ahead(-1),
      lane,
      outcome: 'ok',
      durationMs: 60_000,
    }),
  );
  writeFileSync(join(box.state, 'receipts', `${ahead(-1).slice(0, 7)}.jsonl`), attempts.join('\n'));
  const text = (await box.cmo(['plan', '--batch', 'b.jsonl', '--human'], { env: both(box) })).stdout;
  expect(text).toMatch(/^13 dispatches: 10 could start now, 3 would wait\n/);
  expect(text).toMatch(/3 would wait until \d\d:\d\d/);
  expect(text).toMatch(/^ {2}codex +\d+ dispatches .* at a time$/m);
  rmSync(join(box.state, 'meters.json'));
  const dark = (await box.cmo(['plan', '--batch', 'b.jsonl', '--human'], { env: both(box) })).stdout;
  expect(dark).toMatch(
    /^ {2}codex +12 dispatches +2 at a time: its meter is dark, so none of its windows is counted$/m,
  );
  expect(text).toMatch(/done about .* \(a first estimate: /);
  writeFileSync(join(box.folder, 'b.jsonl'), '{"prompt": "a"}\n{"prompt": "b", "rol": "judge"}\n');
  const wrong = await box.cmo(['plan', '--batch', 'b.jsonl', '--json'], { env: both(box) });
  expect([wrong.code, wrong.stdout.includes('b.jsonl:2 rol')]).toEqual([2, true]);
});

test('a plan, its receipt or its record is replayed: the same facts give the same decision, or the difference is named', async () => {
  const box = await freshBox();
  meters(box, [account('codex', 20), account('claude', 60)]);
  const { stdout } = await box.cmo(
    ['plan', '--role', 'review', '--independent-of', 'claude', '--context-tokens', '5'],
    { env: both(box) },
  );
  const again = await box.cmo(['replay', '-'], { stdin: stdout });
  expect([again.code, again.stdout]).toEqual([0, 'the same: codex gpt-5.6-terra (tier balanced)\n']);
  const moved = JSON.parse(stdout) as { decision: Decision };
  moved.decision.notes.push('rerouted:claude:usage_limit');
  const led = await box.cmo(['replay', '-'], { stdin: JSON.stringify(moved) });
  expect([led.code, led.stdout]).toEqual([0, 'the same: codex gpt-5.6-terra (tier balanced)\n']);
  mkdirSync(dirname(box.configFile), { recursive: true });
  writeFileSync(box.configFile, '{"models": {"codex": {"balanced": "gpt-6"}}, "pressure": {"tight": 10}}');
  const { decision } = JSON.parse(stdout) as { decision: Decision };
  writeFileSync(
    join(box.folder, 'two.jsonl'),
    `${JSON.stringify(decision)}\n${JSON.stringify({ kind: 'dispatch', id: 'd-01JE0000000000000000000001', decision })}\n`,
  );
  const changed = await box.cmo(['replay', 'two.jsonl', '--json'], {});
  expect(changed.code).toBe(1);
  expect(JSON.parse(changed.stdout)).toMatchObject({
    ok: true,
    data: {
      replays: [
        { id: null, same: false },
        {
          id: 'd-01JE0000000000000000000001',
          same: false,
          differences: [
            { member: 'model', then: 'gpt-5.6-terra', now: 'gpt-6' },
            { member: 'states', now: { codex: 'tight' } },
          ],
        },
      ],
    },
  });
  mkdirSync(join(box.state, 'receipts'), { recursive: true, mode: 0o700 });
  writeFileSync(
    join(box.state, 'receipts', '2029-01.jsonl'),
    `${JSON.stringify({ kind: 'dispatch', id: 'd-01JE0000000000000000000001', at: '2029-01-01T00:00:00Z', decision })}\n`,
  );
  expect((await box.cmo(['replay', 'd-01JE0000000000000000000001'])).stdout).toContain(
    'model: "gpt-5.6-terra" then, "gpt-6" now',
  );
  for (const [stdin, says] of [
    ['{}', 'saw an object; allowed: a decision with its factors and facts'],
    ['nonsense', 'holds no decision'],
    ['', 'holds no decision'],
  ] as const) {
    const ran = await box.cmo(['replay', '-'], { stdin });
    expect([ran.code, ran.stderr.includes(says)], ran.stderr).toEqual([2, true]);
  }
});

test('selftest shows what the configured lanes make of typical work, and that cmo is right', async () => {
  const box = await freshBox();
  mkdirSync(dirname(box.configFile), { recursive: true });
  writeFileSync(box.configFile, '{"models": {"claude": {"balanced": "sonnet-9"}}}');
  const ran = await box.cmo(['selftest']);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  expect(ran.stdout).toMatch(
    /review what codex made +0\.475 +balanced +claude +sonnet-9 +medium +cross-model-forced:claude/,
  );
  expect(ran.stdout).toMatch(/8 checks passed\n$/);
  expect(JSON.parse((await box.cmo(['selftest', '--json'])).stdout)).toMatchObject({
    ok: true,
    data: { checks: expect.arrayContaining([expect.objectContaining({ ok: true })]) as unknown },
  });
});
