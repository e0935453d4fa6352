import { expect, test } from 'vitest';
import type { LaneFacts } from '#contract';
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
