import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { adapterFor, answerCheck } from '#vendors';
import { NOW, exitFacts } from './runs.js';

const folder = new URL('../../vendor-sim/samples/', import.meta.url);

type Meta = { argv: string[]; exit_code: number; stderr: string };

/** What the real CLIs (claude 2.1.332, codex 0.171.0) printed, read as a worker would. */
async function sample(kind: 'codex' | 'claude', name: string, withSessionFile = true) {
  const at = (ending: string) => new URL(`${kind}/${name}.${ending}`, folder);
  const meta = JSON.parse(readFileSync(at('run.json'), 'utf8')) as Meta;
  const reader = adapterFor(kind).reader();
  const signals = reader.out(readFileSync(at('jsonl')));
  reader.err(Buffer.from(meta.stderr));
  const schema =
    name === 'json'
      ? await answerCheck({
          type: 'object',
          required: ['verdict', 'score'],
          properties: { verdict: { enum: ['pass', 'fail'] }, score: { type: 'integer' } },
        })
      : null;
  const sessionError =
    withSessionFile && existsSync(at('rollout.jsonl'))
      ? sessionErrorIn(readFileSync(at('rollout.jsonl'), 'utf8'))
      : null;
  const reading = reader.finish(
    exitFacts({ exitCode: meta.exit_code, sessionError, check: schema?.ok ? schema.check : null }),
  );
  return { reading, signals, progress: reader.progress() };
}

function sessionErrorIn(text: string): unknown {
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { payload?: { type?: string; error?: { codex_error_info?: unknown } } });
  return lines.findLast(({ payload }) => payload?.type === 'task_complete')?.payload?.error?.codex_error_info ?? null;
}

describe.each(['claude', 'codex'] as const)('recorded runs of the real %s', (kind) => {
  test('an echo is an answer, with its usage and session', async () => {
    const { reading, signals, progress } = await sample(kind, 'echo');
    expect(reading).toMatchObject({
      ok: true,
      text: `sim:${kind} heard: Please answer. [[sim:echo]]`,
      began: 'no',
      session: '00000000-0000-4000-8000-000000000001',
      toolCalls: 0,
    });
    expect(reading.usage).toEqual(
      kind === 'claude' ? { inputTokens: 2000, outputTokens: 12 } : { inputTokens: 1200, outputTokens: 11 },
    );
    expect(signals[0]).toEqual({ kind: 'session', id: '00000000-0000-4000-8000-000000000001' });
    expect(signals.at(-1)).toEqual({ kind: 'final' });
    expect(progress.cliVersion).toBe(kind === 'claude' ? '2.1.332' : null);
  });

  test('a schema answer is a value', async () => {
    expect((await sample(kind, 'json')).reading).toMatchObject({
      ok: true,
      structured: { verdict: 'pass', score: 0 },
      text: '{"verdict":"pass","score":0}',
      began: 'no',
    });
  });

  test('a tool call is an act', async () => {
    const { reading, progress } = await sample(kind, 'tool');
    expect(reading).toMatchObject({ ok: true, began: 'yes', toolCalls: 1 });
    expect(progress.tools).toEqual(kind === 'claude' ? { Bash: 1 } : { command_execution: 1 });
    expect(progress.toolsRunning).toBe(0);
  });

  test.each([
    ['usage-limit', 'usage_limit'],
    ['rate-limit', 'rate_limit'],
    ['auth-expired', 'auth'],
    ['bad-request', 'deterministic'],
    ['server-error', 'transient'],
    ['overloaded', 'overloaded'],
    ['cut', 'transient'],
    ['empty', 'transient'],
  ])('%s is %s', async (name, expected) => {
    const { reading } = await sample(kind, name);
    expect(reading).toMatchObject({ ok: false, failure: { class: expected } });
    expect(reading.began).toBe('no');
  });

  test('the spent window states its reset', async () => {
    const { reading } = await sample(kind, 'usage-limit');
    const stated = reading.ok ? null : (reading.failure.resetsAt ?? null);
    // claude's event has the second, codex's sentence the minute.
    expect(stated).toBe(kind === 'claude' ? '2026-11-30T00:20:07.000Z' : '2026-11-30T00:20:00.000Z');
    expect(Date.parse(stated ?? '') - NOW).toBeLessThan(3_700_000);
  });

  test('the short throttle asks to be ended at its first sign, and names no window', async () => {
    const { reading, signals } = await sample(kind, 'rate-limit');
    expect(signals.filter((signal) => signal.kind === 'refused')).toHaveLength(1);
    expect(reading).toMatchObject({ ok: false, failure: { class: 'rate_limit', resetsAt: null } });
  });
});

test('codex without its session file is classified by its sentences alone', async () => {
  for (const [name, expected] of [
    ['usage-limit', 'usage_limit'],
    ['rate-limit', 'rate_limit'],
    ['auth-expired', 'auth'],
    ['bad-request', 'deterministic'],
    ['overloaded', 'overloaded'],
    ['cut', 'transient'],
  ] as const) {
    expect((await sample('codex', name, false)).reading).toMatchObject({ ok: false, failure: { class: expected } });
  }
});

test('claude tells its quota with every run', async () => {
  const { signals } = await sample('claude', 'echo');
  expect(signals.find((signal) => signal.kind === 'rate-limit-event')).toMatchObject({
    info: { status: 'allowed', unifiedWindows: { five_hour: { utilization: 0.03 } } },
  });
});
