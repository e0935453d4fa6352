import type { ErrorCode, NumberRule } from '#contract';
import { nearest } from './nearest.js';

/**
 * One value that is refused: what was seen, what is allowed, and the nearest right value (null when there is none to
 * name).
 */
export type Problem = {
  code: Extract<ErrorCode, 'CMO_E_UNKNOWN_VALUE' | 'CMO_E_UNSATISFIABLE' | 'CMO_E_EMPTY_TASK'>;
  field: string;
  seen: string;
  allowed: string;
  nearest: string | null;
};

/** A value from outside as it is shown back: short, one line, never a throw. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return clip(JSON.stringify(value));
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : typeof value;
}

/**
 * A refused value still has to fill its place until the problems are reported; String and Number throw on some objects.
 */
export function wordOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…"` : text;
}

export function unknownWord(field: string, seen: unknown, allowed: readonly string[]): Problem {
  return {
    code: 'CMO_E_UNKNOWN_VALUE',
    field,
    seen: shown(seen),
    allowed: allowed.join(', '),
    nearest: nearest(wordOf(seen), allowed),
  };
}

export function wrongValue(field: string, seen: unknown, allowed: string, near: string | null = null): Problem {
  return { code: 'CMO_E_UNKNOWN_VALUE', field, seen: shown(seen), allowed, nearest: near };
}

export function contradiction(field: string, seen: string, allowed: string): Problem {
  return { code: 'CMO_E_UNSATISFIABLE', field, seen, allowed, nearest: null };
}

/**
 * Null when the number is right. Text is never a number here (the door that reads text converts it), but what it says
 * is the nearest one.
 */
export function checkNumber(field: string, value: unknown, { min, max, whole }: NumberRule): Problem | null {
  if (typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value))) return null;
  const meant = typeof value === 'string' && value.trim() !== '' ? Number(value) : numberOf(value);
  const near = Number.isNaN(meant) ? null : Math.min(max, Math.max(min, whole ? Math.round(meant) : meant));
  return wrongValue(
    field,
    value,
    `a ${whole ? 'whole ' : ''}number from ${min} to ${max}`,
    near === null ? null : String(near),
  );
}
