import pc from 'picocolors';
import { expect, test } from 'vitest';
import { errorBody, type LaneFacts } from '#contract';
import { errorText } from '#cli/output/error-text';
import { laneWord } from '#cli/output/lane-word';

const shut = (blockedBy: string | undefined, worstPercent = 27): LaneFacts => ({
  available: true,
  worstPercent,
  hardBlocked: true,
  ...(blockedBy !== undefined && { blockedBy }),
});

test('a lane is called exhausted only for a full window, and else by what shut it', () => {
  expect(laneWord('exhausted', shut('paused'), 95)).toBe('paused');
  expect(laneWord('exhausted', shut('usage_limit'), 95)).toBe('closed (usage_limit)');
  expect(laneWord('exhausted', shut('left'), 95)).toBe('given up for this task');
  expect(laneWord('exhausted', shut(undefined), 95)).toBe('closed');
  expect(laneWord('exhausted', shut('limit'), 95)).toBe('exhausted');
  expect(laneWord('exhausted', shut('usage_limit', 97), 95)).toBe('exhausted');
  expect(laneWord('exhausted', { available: true, worstPercent: 97 }, 95)).toBe('exhausted');
  expect(laneWord('ok', shut('paused'), 95)).toBe('ok');
});

test('an error tells a person its moments by the local clock and how far off they are', () => {
  const now = new Date(2026, 10, 30, 8, 0).getTime();
  const at = new Date(now + 98 * 60_000).toISOString();
  const error = errorBody('CMO_E_DEFERRED', undefined, { details: [`codex: closed until ${at}`], retryAfter: at });
  expect(errorText(error, pc.createColors(false), now).split('\n')).toEqual([
    expect.stringContaining('[CMO_E_DEFERRED]'),
    '  codex: closed until 09:38 (in 1h 38m)',
    expect.stringContaining('fix:'),
    '  worth another try after 09:38 (in 1h 38m)',
  ]);
});
