import { ERRORS, type ErrorBody } from '#contract';
import type { Paint } from './paint.js';

/** What it is, the details, how to fix it. */
export function errorText(error: ErrorBody, paint: Paint): string {
  const lines = [`${paint.red('cmo:')} ${error.message} ${paint.dim(`[${error.code}]`)}`];
  for (const detail of error.details ?? []) lines.push(`  ${detail}`);
  if (error.fix !== '') lines.push(`  ${paint.dim('fix:')} ${error.fix}`);
  if (error.retryAfter) lines.push(`  ${paint.dim('worth another try after')} ${error.retryAfter}`);
  return lines.join('\n');
}

export function exitOfError(error: ErrorBody): number {
  return ERRORS[error.code].exit;
}
