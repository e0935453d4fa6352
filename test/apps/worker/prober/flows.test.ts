import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LaneConfig, MetersFile } from '#contract';
import { keys } from '#store';
import { openBox, type Box } from '../../../support/box.js';
import { laneOf, testConfig } from '../../../support/records.js';
import { sleep, waitUntil } from '../../../support/wait-until.js';
import { writeLogin } from './login-file.js';
import { openDoor, type UsageDoor } from './usage-door.js';

let door: UsageDoor;
let box: Box;
beforeEach(async () => {
  door = await openDoor();
});
afterEach(async () => {
  await box.close();
  await door.close();
});

type Options = { claude?: Partial<LaneConfig>; change?: Parameters<typeof testConfig>[0] };

async function open({ claude = {}, change = {} }: Options = {}): Promise<void> {
  const lanes = testConfig().lanes.map((lane) =>
    lane.id === 'claude' ? { ...lane, usageUrl: `${door.url}/api/oauth/usage`, ...claude } : lane,
  );
  box = await openBox({
    lanes,
    ...change,
    timing: {
      sweepMs: 500,
      heartbeatMs: 500,
      killGraceMs: 1_000,
      probeMs: 100,
      probeGatherMs: 1_000,
      ...change.timing,
    },
  });
}
const login = (): string => join(laneOf(box.config, 'claude').env['CLAUDE_CONFIG_DIR'] ?? '', '.credentials.json');
const onClaude = (prompt: string, more: Parameters<Box['submit']>[1] = {}): Promise<string> =>
  box.submit(prompt, { lane: 'claude', ...more });
const unsettled = async (): Promise<number> => (await box.gate.snapshot('claude')).reservations.length;
const meters = (): MetersFile => JSON.parse(readFileSync(join(box.stateDir, 'meters.json'), 'utf8')) as MetersFile;

describe('the prober', () => {
  test('asks no vendor while nothing waits or runs, asks once when something does, and stops when that has settled', async () => {
    await open();
    writeLogin(login());
    await box.start();
    await sleep(1_500);
    expect(door.calls).toEqual([]);
    const id = await onClaude('hello [[sim:echo]]');
    await box.ended(id);
    await waitUntil(() => door.calls.length === 1);
    await sleep(2_000);
    expect(door.calls).toHaveLength(1);
  });

  test('settles a hundred dispatches that end within a second by one question', async () => {
    await open({
      claude: { cost: { five_hour: 0.5, weekly: 0.2, monthly: 0.2, other: 1 } },
      change: { slots: { account: 100, node: 100, dark: 100 } },
    });
    writeLogin(login());
    await box.start();
    const go = join(box.workDir, 'go');
    const ids = await Promise.all(
      Array.from({ length: 100 }, () =>
        onClaude(`[[sim:tool cmd="while [ ! -e ${go} ]; do sleep 0.5; done; echo done"]]`, { access: 'write' }),
      ),
    );
    await waitUntil(async () => (await box.gate.snapshot('claude')).inFlight === 100 && door.calls.length > 0, {
      timeoutMs: 150_000,
      what: 'all to run',
    });
    await Promise.all(ids.map((id) => box.until(id, 'running')));
    // As if that first answer were long ago: only the ends are a reason to ask now.
    const now = Date.now();
    await box.redis.hset(keys.probe('claude'), { okAt: now, at: now - 60_000, til: 0 });
    door.calls = [];
    writeFileSync(go, '');
    await Promise.all(ids.map((id) => box.ended(id)));
    await waitUntil(async () => (await unsettled()) === 0, { timeoutMs: 100_000, what: 'all to settle' });
    await sleep(1_500);
    expect(door.calls).toHaveLength(1);
  }, 400_000);

  test('keeps meters.json for readers: windows, their age, what is reserved, and why a source is dark', async () => {
    await open();
    await box.start();
    const codex = await box.submit('[[sim:slow seconds=3]]', { lane: 'codex' });
    const claude = await onClaude('[[sim:slow seconds=3]]');
    const seen = await waitUntil(() => {
      const file = existsSync(join(box.stateDir, 'meters.json')) ? meters() : null;
      return file?.accounts.every(({ inFlight, dark }) => inFlight === 1 && dark !== null) ? file : null;
    });
    expect(seen).toMatchObject({ schema: 'cmo.meters/1', node: 'test-node', pressure: { exhausted: 95 } });
    expect(
      seen.accounts.map(({ account, lanes, dark }) => [
        account,
        lanes.map(({ id, installed }) => [id, installed]),
        dark?.reason,
      ]),
    ).toEqual([
      ['codex', [['codex', true]], 'no_sessions'],
      ['claude', [['claude', true]], 'no_login'],
    ]);
    await Promise.all([codex, claude].map((id) => box.ended(id)));
    const after = await waitUntil(() => {
      const file = meters();
      return file.accounts.every(({ reading, inFlight }) => reading !== null && inFlight === 0) ? file : null;
    });
    const claudeMeter = after.accounts.find(({ account }) => account === 'claude');
    expect(claudeMeter?.reading).toMatchObject({ source: 'claude stream' });
    expect(claudeMeter?.windows.find(({ id }) => id === 'five_hour')).toMatchObject({
      kind: 'five_hour',
      scope: null,
      usedPercent: 3,
      settling: 1,
      effective: 4,
    });
    expect(claudeMeter?.costs.find(({ tier, window }) => tier === 'balanced' && window === 'five_hour')).toEqual({
      lane: 'claude',
      tier: 'balanced',
      window: 'five_hour',
      points: 1,
      measured: 0,
    });
  });

  test('keeps what the usage endpoint says of a model, whatever the runs report, and charges it only to runs of that model', async () => {
    door.sim.quota.set({ claude: { seven_day_opus: { utilization: 94.9, resets_in_seconds: 400_000 } } });
    await open({ change: { slots: { account: 8, node: 8, dark: 8 } } });
    writeLogin(login());
    await box.start();
    await box.ended(await onClaude('hello [[sim:echo]]'));
    await waitUntil(async () => (await box.gate.snapshot('claude')).windows.some(({ id }) => id === 'weekly:opus'));
    await box.ended(await onClaude('a sonnet run brings a reading of its own [[sim:echo]]'));
    expect((await box.gate.snapshot('claude')).windows.find(({ id }) => id === 'weekly:opus')).toMatchObject({
      usedPercent: 94.9,
      reserved: 0,
      settling: 0,
    });
    const frontier = await onClaude('[[sim:echo]]', {
      tier: 'frontier',
      decision: { ...(await decisionOf()), tier: 'frontier', model: 'opus' },
    });
    await waitUntil(async () => {
      const look = await box.gate.look(laneOf(box.config, 'claude'), { 'weekly:opus': 200 }, 'normal');
      return !look.ok && look.window === 'weekly:opus';
    });
    await sleep(700);
    expect((await box.records.read(frontier))?.history).toEqual([]);
  });

  test('learns from ten codex runs what one costs, and reserves that', async () => {
    await open({ change: { slots: { account: 1, node: 8, dark: 1 } } });
    const meter = join(box.workDir, 'meter');
    laneOf(box.config, 'codex').env['CMO_TEST_METER'] = meter;
    const worker = await box.start();
    const known = (): number => worker.meters.costsOf(laneOf(box.config, 'codex'), 'balanced')['five_hour'] ?? 0;
    // The stand-in dates its lines by the second: of two runs within one, only the first is a reading.
    for (let used = 10; used <= 90 && known() === 1_000; used += 2) {
      writeFileSync(meter, `${used} 5`);
      await box.ended(await box.submit('hello [[sim:echo]]', { lane: 'codex' }));
    }
    const cost = await waitUntil(() => (known() > 1_000 ? known() : null));
    expect(cost).toBeGreaterThanOrEqual(1_500);
    expect(cost).toBeLessThanOrEqual(4_000);
    const lines = box.receipts().filter((line) => line.kind === 'attempt');
    expect(lines[1]?.cost).toEqual({ points: { five_hour: 1, weekly: 0.2 }, measured: false });
  }, 120_000);

  test('notes in the receipt that the meter disagreed when a window with room is called used up', async () => {
    await open();
    const refuses = join(box.workDir, 'claude-refuses-at-one-percent');
    const said = {
      type: 'result',
      subtype: 'success',
      is_error: true,
      api_error_status: 429,
      result: `Claude AI usage limit reached|${Math.floor(Date.now() / 1000) + 3600}`,
      session_id: '00000000-0000-4000-8000-000000000000',
      num_turns: 1,
      duration_ms: 1,
    };
    writeFileSync(refuses, `#!/bin/sh\ncat >/dev/null\necho '${JSON.stringify(said)}'\nexit 1\n`, { mode: 0o755 });
    laneOf(box.config, 'claude').command = refuses;
    await box.gate.read({
      account: 'claude',
      windows: [{ id: 'five_hour', kind: 'five_hour', usedPercent: 1, resetsAt: Date.now() + 3_600_000, scope: null }],
      source: 'test',
      writtenAt: Date.now(),
      readAt: Date.now(),
      plan: null,
    });
    await box.start();
    const id = await onClaude('anything');
    const line = await waitUntil(() =>
      box.receipts().find((one) => one.kind === 'attempt' && one.dispatch === id && one.lane === 'claude'),
    );
    expect(line).toMatchObject({ class: 'usage_limit', notes: ['meter-disagreed: it showed 1 %'] });
    expect(await waitUntil(async () => (await box.gate.snapshot('claude')).closed)).toMatchObject({
      reason: 'usage_limit',
    });
  });

  async function decisionOf() {
    const record = await box.records.read(await onClaude('[[sim:echo]]'));
    if (record?.decision.ok !== true) throw new Error('no decision');
    return record.decision;
  }
});

describe('a login across its end', () => {
  const rotating = (): Partial<LaneConfig> => ({ command: 'claude-with-a-single-use-token' });
  const renewals = (): string[] =>
    existsSync(join(box.workDir, 'renewals'))
      ? readFileSync(join(box.workDir, 'renewals'), 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : [];
  async function openRotating(): Promise<void> {
    await open({ claude: rotating(), change: { slots: { account: 24, node: 24, dark: 24 } } });
    const lane = laneOf(box.config, 'claude');
    lane.env['CMO_TEST_RENEWALS'] = join(box.workDir, 'renewals');
  }

  test('is renewed once while 24 dispatches wait for it: none fails and none is logged out', async () => {
    await openRotating();
    writeLogin(login(), { inMs: -1_000 });
    await box.start();
    const ids = await Promise.all(Array.from({ length: 24 }, (_, i) => onClaude(`task ${i} [[sim:echo]]`)));
    const records = await Promise.all(ids.map((id) => box.ended(id)));
    expect(records.map(({ state, attempt }) => [state, attempt])).toEqual(Array(24).fill(['succeeded', 1]));
    expect(renewals()).toHaveLength(1);
    expect(renewals()[0]).toMatch(/^renewed sk-ant-ort01-dummy-1 /);
    expect(JSON.parse(readFileSync(login(), 'utf8'))).toMatchObject({
      claudeAiOauth: { accessToken: expect.stringContaining('next') as string },
    });
  }, 120_000);

  test('that holds no token shuts the lane: work waits with its attempts unspent, and starts when a person has logged in', async () => {
    await openRotating();
    writeFileSync(login(), JSON.stringify({ claudeAiOauth: { accessToken: '', refreshToken: '', expiresAt: 0 } }));
    const pinned = await onClaude('waits [[sim:echo]]', {
      request: { ...(await requestOf()), pin: 'claude', failover: false },
    });
    const free = await onClaude('moves [[sim:echo]]');
    const worker = await box.start();
    expect((await box.ended(free)).lane).toBe('codex');
    const waiting = await box.records.read(pinned);
    expect(waiting).toMatchObject({ state: 'queued', lane: 'claude', attempt: 1, history: [] });
    expect(
      (await worker.meters.limits()).accounts.find(({ account }) => account === 'claude')?.lanes[0]?.hold,
    ).toContain('log in again');
    await waitUntil(
      () => meters().accounts.find(({ account }) => account === 'claude')?.dark?.reason === 'repair_failed',
    );
    expect(renewals()).toEqual([]);
    writeLogin(login());
    expect(await box.ended(pinned)).toMatchObject({ state: 'succeeded', attempt: 1 });
  }, 120_000);

  async function requestOf() {
    return { id: '', cwd: box.workDir, hasSchema: false, envNames: [] };
  }
});
