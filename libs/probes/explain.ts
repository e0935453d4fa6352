import { readClaudeUsage } from './claude-usage.js';
import { readCodexSessions } from './codex-sessions.js';
import { sessionRoots } from './codex-session-files.js';
import { isoSecond, parseInstant } from './instants.js';
import { finite, members, type Members } from './json.js';
import type { Overage, Probe } from './reading.js';
import { verdict } from './verdict.js';

export type ExplainedWindow = { kind: string; usedPercent: number; resetsAt: string | null; scope?: string };

/** What cmo makes of one input, in the words of the vectors; times are ISO to the second. */
export type ExplainedMeter = {
  status: 'ok' | 'unknown';
  windows: ExplainedWindow[];
  exhausted: boolean;
  blockedUntil: string | null;
  /** Why there is no reading; absent when there is one. */
  reason?: string;
  detail?: string;
  retryAfterSeconds?: number;
  source?: string;
  writtenAt?: string;
  ageSeconds?: number;
  plan?: string | null;
  reached?: string | null;
  needsPerson?: boolean;
  exhaustedScopes?: string[];
  overage?: Overage | null;
};

export type Unreadable = { error: string };

/** One `codex-sessions` input (`now`), whose `files` lie under `folder` as under a CODEX_HOME. Never throws. */
export async function explainCodexSessions(input: unknown, folder: string): Promise<ExplainedMeter | Unreadable> {
  const now = parseInstant(members(input)?.['now']);
  if (now === null) return { error: 'now must be an ISO 8601 time' };
  return explained(await readCodexSessions({ roots: sessionRoots(folder), account: 'codex', now }), now);
}

/** One `claude-usage` input: `now`, `httpStatus`, `headers`, `body`. Never throws. */
export function explainClaudeUsage(input: unknown): ExplainedMeter | Unreadable {
  const given: Members = members(input) ?? {};
  const now = parseInstant(given['now']);
  const httpStatus = finite(given['httpStatus']);
  if (now === null) return { error: 'now must be an ISO 8601 time' };
  if (httpStatus === null) return { error: 'httpStatus must be a number' };
  const headers = members(given['headers']) ?? {};
  return explained(readClaudeUsage({ httpStatus, headers, body: given['body'] }, { account: 'claude', now }), now);
}

function explained(probe: Probe, now: number): ExplainedMeter {
  if (probe.kind === 'dark') {
    const { reason, detail, retryAfterMs } = probe;
    const base = { status: 'unknown' as const, windows: [], exhausted: false, blockedUntil: null, reason, detail };
    return retryAfterMs === null ? base : { ...base, retryAfterSeconds: Math.ceil(retryAfterMs / 1000) };
  }
  const { windows, reached, source, writtenAt, plan, overage } = probe.reading;
  const { exhausted, blockedUntil, needsPerson } = verdict(windows, reached);
  return {
    status: 'ok',
    windows: windows.map(({ kind, usedPercent, resetsAt, scope }) => ({
      kind,
      usedPercent,
      resetsAt: iso(resetsAt),
      ...(scope === null ? {} : { scope }),
    })),
    exhausted,
    blockedUntil: iso(blockedUntil),
    source,
    writtenAt: isoSecond(writtenAt),
    ageSeconds: Math.floor((now - writtenAt) / 1000),
    plan,
    reached: reached?.flag ?? null,
    needsPerson,
    exhaustedScopes: windows.flatMap(({ scope, usedPercent }) => (scope !== null && usedPercent >= 95 ? [scope] : [])),
    overage,
  };
}

const iso = (ms: number | null): string | null => (ms === null ? null : isoSecond(ms));
