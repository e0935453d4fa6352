import { DEFAULT_TIMEOUT_MS, type FailureClass, type RunReading, type Usage } from '#contract';
import { firstStep, type FirstStep } from '#policy/failure/index';
import type { AnswerCheck, ExitFacts, OutputMode, VendorAdapter } from './adapter.js';
import { adapterOf } from './adapters.js';
import { isObject, member, textOf, type JsonObject } from './json.js';
import { answerCheck, anyJson } from './schema.js';

export type ExplainedFailure =
  { class: FailureClass | 'ok'; action: FirstStep; resetsAt?: string | null; words?: string } | { error: string };

export type ExplainedTranscript =
  | {
      ok: boolean;
      text: string | null;
      structured?: unknown;
      usage: Usage;
      errorClass: FailureClass | null;
      resetsAt?: string | null;
      words?: string;
      partial?: string;
      session: string | null;
      toolCalls: number;
    }
  | { error: string };

/**
 * What is left of a run (`input` of test/vectors/failures.json)
 * → its class and first step. Reads no clock, zone or file.
 */
export async function explainFailure(input: unknown): Promise<ExplainedFailure> {
  const read = await readInput(input);
  if ('error' in read) return read;
  const { reading } = read;
  if (reading.ok) return { class: 'ok', action: 'none' };
  const { failure } = reading;
  return {
    class: failure.class,
    action: firstStep(failure.class, failure.boxWide === true),
    ...(failure.resetsAt === undefined ? {} : { resetsAt: failure.resetsAt }),
    words: failure.words,
  };
}

/**
 * The same, with what the reader makes of the content (`input` of test/vectors/transcripts.json; pads already
 * expanded).
 */
export async function explainTranscript(input: unknown): Promise<ExplainedTranscript> {
  const read = await readInput(input);
  if ('error' in read) return read;
  const { reading } = read;
  const { usage, session, toolCalls } = reading;
  if (reading.ok)
    return {
      ok: true,
      text: reading.text,
      ...('structured' in reading ? { structured: reading.structured } : {}),
      usage,
      errorClass: null,
      session,
      toolCalls,
    };
  const { failure, partial } = reading;
  return {
    ok: false,
    text: null,
    usage,
    errorClass: failure.class,
    ...(failure.resetsAt === undefined ? {} : { resetsAt: failure.resetsAt }),
    words: failure.words,
    ...(partial === null ? {} : { partial }),
    session,
    toolCalls,
  };
}

type Read = { reading: RunReading } | { error: string };

async function readInput(input: unknown): Promise<Read> {
  if (!isObject(input)) return { error: 'not an object' };
  const adapter = adapterOf(textOf(input['vendor']) ?? '');
  if (!adapter) return { error: 'vendor: expected "codex" or "claude"' };
  const now = Date.parse(textOf(input['now']) ?? '');
  if (Number.isNaN(now)) return { error: 'now: expected an ISO time' };
  const problem = wrongMember(input);
  if (problem !== null) return { error: problem };
  const check = await checkOf(input);
  if ('error' in check) return check;
  return { reading: feed(adapter, input, exitOf(input, now, check.check)) };
}

function wrongMember(input: JsonObject): string | null {
  for (const name of [
    'stdout',
    'stderr',
    'signal',
    'mode',
    'hostTimeZone',
    'lastMessageFile',
    'lastMessageFileMtime',
  ]) {
    if (input[name] !== undefined && input[name] !== null && typeof input[name] !== 'string')
      return `${name}: expected a string`;
  }
  const { exitCode, chunkBytes } = input;
  if (exitCode !== undefined && exitCode !== null && !Number.isInteger(exitCode))
    return 'exitCode: expected a whole number or null';
  if (chunkBytes !== undefined && (!Number.isInteger(chunkBytes) || Number(chunkBytes) < 1))
    return 'chunkBytes: expected a whole number above 0';
  return null;
}

async function checkOf(input: JsonObject): Promise<{ check: AnswerCheck | null } | { error: string }> {
  if (input['schema'] === undefined || input['schema'] === null)
    return { check: input['schemaRequested'] === true ? anyJson : null };
  const made = await answerCheck(input['schema']);
  return made.ok ? { check: made.check } : { error: `schema: ${made.details.join('; ')}` };
}

function exitOf(input: JsonObject, now: number, check: AnswerCheck | null): ExitFacts {
  const spawn = input['spawnError'];
  return {
    exitCode: typeof input['exitCode'] === 'number' ? input['exitCode'] : null,
    signal: textOf(input['signal']),
    timedOut: input['timedOut'] === true,
    silent: input['silent'] === true,
    endedByUs: input['endedByUs'] === true,
    spawnError:
      spawn === undefined || spawn === null ? null : (textOf(spawn) ?? textOf(member(spawn, 'code')) ?? 'unknown'),
    cwdExists: input['cwdExists'] !== false,
    now,
    hostTimeZone: textOf(input['hostTimeZone']) ?? 'UTC',
    lastMessage: lastMessageOf(input, now),
    sessionError: input['sessionError'] ?? null,
    check,
  };
}

/** A file older than an attempt may last is another run's. */
function lastMessageOf(input: JsonObject, now: number): string | null {
  const written = textOf(input['lastMessageFileMtime']);
  if (written !== null && !(Date.parse(written) >= now - DEFAULT_TIMEOUT_MS)) return null;
  return textOf(input['lastMessageFile']);
}

function feed(adapter: VendorAdapter, input: JsonObject, exit: ExitFacts): RunReading {
  const mode: OutputMode = input['mode'] === 'text' ? 'text' : 'stream';
  const reader = adapter.reader({ mode });
  const bytes = Buffer.from(textOf(input['stdout']) ?? '', 'utf8');
  const size = typeof input['chunkBytes'] === 'number' ? input['chunkBytes'] : 64 * 1024;
  let endedForBilling = false;
  for (let start = 0; start < bytes.length; start += size) {
    // The worker ends a run here, unless its lane may bill so; no lane of the defaults may.
    endedForBilling ||= reader.out(bytes.subarray(start, start + size)).some(({ kind }) => kind === 'foreign-billing');
  }
  reader.err(Buffer.from(textOf(input['stderr']) ?? '', 'utf8'));
  return reader.finish({ ...exit, endedForBilling });
}
