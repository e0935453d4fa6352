import type { LastEnd } from '#daemon/client';
import { momentText } from './time-text.js';

/** One line: when, why, and how often within a day. */
export function lastEndText({ at, pid, why, times }: LastEnd, now: number): string {
  const plain = why.replace(/\p{Cc}/gu, ' ');
  return `a daemon (pid ${pid}) ended at ${momentText(at, now)}, not in order: ${plain}${times > 1 ? ` (${times} within a day)` : ''}`;
}
