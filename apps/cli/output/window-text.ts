import type { MeterWindowStatus } from '#contract';
import { shortNumber } from './percent-text.js';

/** `5-hour`, `weekly`, `weekly of opus`. */
export function windowName({ kind, scope, id }: Pick<MeterWindowStatus, 'kind' | 'scope' | 'id'>): string {
  const name = kind === 'five_hour' ? '5-hour' : kind === 'other' ? (id.split(':')[0] ?? id) : kind;
  return scope === null ? name : `${name} of ${scope}`;
}

type Promised = Pick<MeterWindowStatus, 'effective' | 'reserved' | 'settling' | 'estimated'>;

/** `effective 29.5% (1 reserved, 0.5 settling)`; empty where nothing is promised beside what the vendor counts. */
export function effectiveText({ effective, reserved, settling, estimated }: Promised): string {
  const promised = [
    [reserved, 'reserved'],
    [settling, 'settling'],
    [estimated, 'estimated'],
  ] as const;
  const parts = promised.flatMap(([points, word]) => (points > 0 ? [`${shortNumber(points)} ${word}`] : []));
  return parts.length === 0 ? '' : `effective ${shortNumber(effective)}% (${parts.join(', ')})`;
}
