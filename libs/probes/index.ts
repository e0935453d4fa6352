export { readClaudeUsage, type UsageAnswer } from './claude-usage.js';
export { readRateLimitEvent } from './claude-stream.js';
export { readCodexSessions, type SessionMemo, type SessionQuery } from './codex-sessions.js';
export { sessionRoots } from './codex-session-files.js';
export {
  explainClaudeUsage,
  explainCodexSessions,
  type ExplainedMeter,
  type ExplainedWindow,
  type Unreadable,
} from './explain.js';
export { meterAge, type MeterAge } from './freshness.js';
export { type Dark, type DarkReason, type Overage, type Probe, type Reached, type Reading } from './reading.js';
export { verdict, type Verdict } from './verdict.js';
