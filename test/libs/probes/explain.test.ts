import { describe, expect, it } from 'vitest';
import { explainClaudeUsage, explainCodexSessions } from '#probes';
import { countLine, limits, NOW, rollout } from './rollouts.js';
import { scratchFolder } from './scratch-folder.js';

const now = new Date(NOW).toISOString();

describe('what cmo explains of a meter', () => {
  it('says source, age and everything else that was read, beside the members of the vectors', async () => {
    const home = await scratchFolder();
    await rollout(
      home,
      'sessions/2026/11/20/rollout-2026-11-20T03-00-00-a.jsonl',
      countLine(limits(37, 12, { plan_type: 'pro' })),
    );
    expect(await explainCodexSessions({ now, files: [] }, home)).toEqual({
      status: 'ok',
      windows: [
        { kind: 'five_hour', usedPercent: 37, resetsAt: '2026-11-20T05:15:00Z' },
        { kind: 'weekly', usedPercent: 12, resetsAt: '2026-11-24T03:15:00Z' },
      ],
      exhausted: false,
      blockedUntil: null,
      source: 'codex session log',
      writtenAt: '2026-11-20T03:14:00Z',
      ageSeconds: 60,
      plan: 'pro',
      reached: null,
      needsPerson: false,
      exhaustedScopes: [],
      overage: null,
    });
  });

  it('says why a meter is dark and when it may be asked again', () => {
    expect(explainClaudeUsage({ now, httpStatus: 429, headers: { 'retry-after': '0' }, body: '' })).toMatchObject({
      status: 'unknown',
      reason: 'throttled',
      retryAfterSeconds: 60,
    });
  });

  it('names what is unreadable in an input instead of guessing', async () => {
    expect(await explainCodexSessions({ files: [] }, '/nowhere')).toEqual({ error: 'now must be an ISO 8601 time' });
    expect(explainClaudeUsage({ now, body: '{}' })).toEqual({ error: 'httpStatus must be a number' });
    for (const input of [null, 7, [], { now: 'soon' }])
      expect(explainClaudeUsage(input)).toEqual({ error: 'now must be an ISO 8601 time' });
  });
});
