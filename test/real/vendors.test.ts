import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Access, RunReading } from '#contract';
import { adapterFor, answerCheck, childEnvironment, sessionFacts, type StreamSignal } from '#vendors';
import { presentClis } from '../../scripts/real-clis.mjs';
import { exitFacts } from '../libs/vendors/runs.js';
import { onLeave } from '../support/on-leave.js';
import { startSim, type TestSim } from '../support/sim.js';
import { tempFolder } from '../support/temp.js';

type Kind = 'codex' | 'claude';

const clis = presentClis();
const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['verdict', 'score'],
  properties: { verdict: { type: 'string', enum: ['pass', 'fail'] }, score: { type: 'integer', minimum: 0 } },
};

type Outcome = { reading: RunReading; signals: StreamSignal[]; requests: number; cwd: string; home: string };

/**
 * One attempt of the real CLI as a worker runs it: our argv and
 * environment, the prompt by stdin, ended when the reader asks.
 */
async function attempt(
  sim: TestSim,
  kind: Kind,
  prompt: string,
  more: { access?: Access; schema?: boolean; resume?: string; home?: string } = {},
): Promise<Outcome> {
  const home = more.home ?? tempFolder('real');
  const [cwd, folder] = [join(home, 'work'), join(home, 'run')];
  for (const path of [cwd, folder, join(home, '.codex')]) mkdirSync(path, { recursive: true });
  const provider = [
    'model_provider = "sim"',
    '[model_providers.sim]',
    'name = "sim"',
    `base_url = "${sim.url}/v1"`,
    'wire_api = "responses"',
    'env_key = "SIM_KEY"',
    'request_max_retries = 1',
    'stream_max_retries = 1',
    '',
  ];
  writeFileSync(join(home, '.codex', 'config.toml'), provider.join('\n'));
  const schemaText = more.schema === true ? JSON.stringify(SCHEMA) : null;
  const files = {
    folder,
    lastMessage: join(folder, 'last-message'),
    schema: schemaText === null ? null : join(folder, 'schema.json'),
  };
  if (schemaText !== null) writeFileSync(join(folder, 'schema.json'), schemaText);

  const adapter = adapterFor(kind);
  const access = more.access ?? 'read';
  const argv = adapter.argv({
    model: kind === 'codex' ? 'gpt-5.6-terra' : 'sonnet',
    effort: 'low',
    access,
    fullAccess: false,
    cwd,
    files,
    schemaText,
    newSession: randomUUID(),
    resume: more.resume ?? null,
    readCommands: ['cat', 'ls', 'git diff'],
  });
  const lane = {
    passEnv: [],
    env:
      kind === 'codex'
        ? { CODEX_HOME: join(home, '.codex'), SIM_KEY: 'dummy' }
        : { ANTHROPIC_BASE_URL: sim.url, CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-dummy' },
  };
  const env = childEnvironment({
    submitted: { PATH: process.env['PATH'] ?? '', HOME: home, TERM: 'dumb' },
    lane,
    adapterEnv: adapter.envFor({ access, root: process.getuid?.() === 0 }),
    mark: `d-test.${String(process.pid)}`,
  });

  const before = sim.requests(kind).length;
  const startedAt = Date.now();
  const reader = adapter.reader();
  const signals: StreamSignal[] = [];
  const child = spawn(clis?.[kind] ?? '', argv, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const end = () => void (child.pid !== undefined && child.exitCode === null && process.kill(-child.pid, 'SIGTERM'));
  onLeave(end);
  let endedByUs = false;
  child.stdout.on('data', (chunk: Buffer) => {
    const news = reader.out(chunk);
    signals.push(...news);
    if (!news.some((signal) => signal.kind === 'refused')) return;
    endedByUs = true;
    end();
  });
  child.stderr.on('data', (chunk: Buffer) => reader.err(chunk));
  child.stdin.end(prompt);
  const [exitCode, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.on('close', (code, by) => resolve([code, by])),
  );

  const { session } = reader.progress();
  const facts =
    kind === 'codex' && session !== null
      ? await sessionFacts(join(home, '.codex', 'sessions'), session, startedAt - 1000)
      : null;
  const check = schemaText === null ? null : await answerCheck(SCHEMA);
  const lastMessage = existsSync(files.lastMessage) ? readFileSync(files.lastMessage, 'utf8') : null;
  const reading = reader.finish(
    exitFacts({
      exitCode,
      signal,
      endedByUs,
      now: Date.now(),
      sessionError: facts?.error ?? null,
      lastMessage,
      check: check?.ok ? check.check : null,
    }),
  );
  return { reading, signals, requests: sim.requests(kind).length - before, cwd, home };
}

describe.each(['codex', 'claude'] as const)('the real %s, driven by our argv and environment', (kind) => {
  let sim: TestSim;
  beforeAll(async () => {
    sim = await startSim();
  });
  afterAll(() => sim.close());

  test('answers, and a second attempt resumes its session', async () => {
    const first = await attempt(sim, kind, 'Say this. [[sim:echo text=first]]');
    expect(first.reading).toMatchObject({ ok: true, text: 'first', began: 'no' });
    const { session } = first.reading;
    const second = await attempt(sim, kind, 'Go on. [[sim:echo text=second]]', {
      home: first.home,
      resume: session ?? '',
    });
    expect(second.reading).toMatchObject({ ok: true, text: 'second', session });
  });

  test('gives a value that fits the schema', async () => {
    expect((await attempt(sim, kind, 'Judge. [[sim:json]]', { schema: true })).reading).toMatchObject({
      ok: true,
      structured: { verdict: 'pass', score: 0 },
    });
  });

  test('gives a value that does not fit, and we see it', async () => {
    expect(
      (await attempt(sim, kind, 'Judge. [[sim:json value={"verdict":"maybe"}]]', { schema: true })).reading,
    ).toMatchObject({ ok: false, failure: { class: 'schema' } });
  });

  test('writes as a writer, and does not as a reader', async () => {
    const written = await attempt(sim, kind, 'Write. [[sim:tool]]', { access: 'write' });
    expect(written.reading).toMatchObject({ ok: true, began: 'yes', toolCalls: 1 });
    expect(existsSync(join(written.cwd, 'sim-out.txt'))).toBe(true);
    const denied = await attempt(sim, kind, 'Write. [[sim:tool]]', { access: 'read' });
    expect(denied.reading).toMatchObject({ ok: true });
    expect(existsSync(join(denied.cwd, 'sim-out.txt'))).toBe(false);
  });

  test('meets a spent window: one request, its reset', async () => {
    const { reading, requests } = await attempt(sim, kind, 'Try. [[sim:usage-limit resets_in=3600]]');
    expect(reading).toMatchObject({
      ok: false,
      failure: { class: 'usage_limit', resetsAt: expect.any(String) as string },
      began: 'no',
    });
    const ahead = reading.ok ? 0 : Date.parse(reading.failure.resetsAt ?? '') - Date.now();
    expect(ahead).toBeGreaterThan(3_400_000);
    expect(ahead).toBeLessThan(3_700_000);
    expect(requests).toBe(1);
  });

  test('meets a short throttle: ended at its first sign, two requests at most', async () => {
    const { reading, requests, signals } = await attempt(sim, kind, 'Try. [[sim:rate-limit]]');
    expect(signals.filter((signal) => signal.kind === 'refused')).toHaveLength(1);
    expect(reading).toMatchObject({ ok: false, failure: { class: 'rate_limit' } });
    expect(requests).toBeLessThanOrEqual(2);
  });

  test.each([
    ['auth-expired', 'auth'],
    ['no-model', 'model_unavailable'],
    ['too-long', 'deterministic'],
    ['overloaded', 'overloaded'],
    // claude names no window in the middle of a stream: the refusal is short until a reading says otherwise.
    ['stream-error kind=usage-limit', kind === 'codex' ? 'usage_limit' : 'rate_limit'],
    ['empty', 'transient'],
    ['incomplete', 'deterministic'],
  ])('meets %s', async (scenario, expected) => {
    expect((await attempt(sim, kind, `Try. [[sim:${scenario}]]`)).reading).toMatchObject({
      ok: false,
      failure: { class: expected },
    });
  });
});
