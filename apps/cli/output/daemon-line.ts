import type { Paint } from './paint.js';
import { plain } from './table.js';
import { secondText } from './time-text.js';

const OWN = new Set(['level', 'time', 'pid', 'msg']);

/** A line of the daemon's log for people: when, how bad, what, and its facts. What is no JSON is shown as it is. */
export function daemonLine(text: string, paint: Paint, now: number): string {
  const fields = parse(text);
  if (fields === null) return plain(text);
  const { level, time, msg } = fields;
  const shown = levelText(typeof level === 'string' ? level : '?', paint);
  const facts = Object.entries(fields).flatMap(([name, value]) =>
    OWN.has(name)
      ? []
      : [`${paint.dim(`${name}=`)}${plain(typeof value === 'string' ? value : JSON.stringify(value))}`],
  );
  const at = Date.parse(String(time));
  return [
    Number.isNaN(at) ? plain(String(time)) : secondText(at, now),
    shown.padEnd(5),
    plain(String(msg)),
    ...facts,
  ].join(' ');
}

function levelText(level: string, paint: Paint): string {
  if (level === 'info') return paint.dim(level);
  return level === 'warn' ? paint.yellow(level) : paint.red(level);
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
