import { ERRORS, type ErrorBody } from '#contract';
import type { Paint } from './paint.js';
import { byTheClock, momentText } from './time-text.js';

/** What it is, the details, how to fix it. */
export function errorText(error: ErrorBody, paint: Paint, now: number): string {
  const lines = [`${paint.red('cmo:')} ${byTheClock(error.message, now)} ${paint.dim(`[${error.code}]`)}`];
  for (const detail of error.details ?? []) lines.push(`  ${byTheClock(detail, now)}`);
  if (error.fix !== '') lines.push(`  ${paint.dim('fix:')} ${error.fix}`);
  if (error.retryAfter) lines.push(`  ${paint.dim('worth another try after')} ${momentText(error.retryAfter, now)}`);
  return lines.join('\n');
}

export function exitOfError(error: ErrorBody): number {
  return ERRORS[error.code].exit;
}
