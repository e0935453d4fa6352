import type { WindowKind } from '#contract';
import { ofKind } from './windows.js';

export type NamedWindow = { kind: WindowKind; lengthMs: number; scope: string | null };

const NAME = /^(five_hour|session|seven_day|weekly|thirty_day|monthly)(?:_(.+))?$/;
const KINDS = {
  five_hour: 'five_hour',
  session: 'five_hour',
  seven_day: 'weekly',
  weekly: 'weekly',
  thirty_day: 'monthly',
  monthly: 'monthly',
} as const;

/**
 * A window by the key it stands under (`five_hour`, `seven_day_opus`, `weekly_all`). A suffix not known yet is a pool
 * of its own, never the account's. Null for keys that name no window (codenames, extra_usage).
 */
export function windowOfKey(key: string): NamedWindow | null {
  const [, base, suffix] = NAME.exec(key.toLowerCase()) ?? [];
  if (base === undefined || !(base in KINDS)) return null;
  return {
    ...ofKind(KINDS[base as keyof typeof KINDS]),
    scope: suffix === undefined || suffix === 'all' ? null : suffix,
  };
}

/**
 * The lower-case model word of a display name or id: `Opus 4.5`, `claude-opus-4-5` → `opus`; null when there is none.
 */
export function modelWord(name: unknown): string | null {
  if (typeof name !== 'string') return null;
  return (
    name
      .toLowerCase()
      .match(/[a-z]+/g)
      ?.find((word) => word !== 'claude') ?? null
  );
}
