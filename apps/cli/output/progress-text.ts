import type { ShownProgress } from '#contract';
import { counted } from './count-text.js';
import { durationText } from './time-text.js';

/** Below this an agent is not called silent: both CLIs think for some seconds without a word. */
const SILENT_MS = 10_000;

/** `12 steps, 3 tools (1 runs), 812 tokens, silent for 40s`; empty while nothing is known. */
export function doneSoFar({ steps, tools, toolsRunning, outputTokens, silentMs, beside }: ShownProgress): string {
  const calls = Object.values(tools).reduce((sum, count) => sum + count, 0);
  const running = toolsRunning > 0 ? ` (${toolsRunning} running)` : '';
  const parts = [counted(steps, 'step'), `${counted(calls, 'tool')}${running}`];
  if (outputTokens > 0) parts.push(counted(outputTokens, 'token'));
  if (silentMs >= SILENT_MS) parts.push(`silent for ${durationText(silentMs)}`);
  if (beside !== undefined) parts.push(`beside ${beside.join(', ')}, which writes here too`);
  return parts.join(', ');
}
