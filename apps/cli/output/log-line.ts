import type { LogLine } from '#contract';
import type { Paint } from './paint.js';

/** One event of an agent. The word in front tells what it is where colours are not shown. */
export function logLine({ kind, text }: LogLine, paint: Paint): string {
  switch (kind) {
    case 'command':
      return paint.cyan(text);
    case 'edit':
      return `${paint.yellow('edit')} ${text}`;
    case 'tool':
      return `${paint.cyan('tool')} ${text}`;
    case 'message':
      return `${paint.bold('says')} ${text}`;
    case 'result':
      return paint.dim(`  ${text}`);
    case 'error':
      return `${paint.red('error')} ${text}`;
    case 'note':
      return paint.dim(text);
  }
}
