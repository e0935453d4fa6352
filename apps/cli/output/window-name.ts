import type { MeterWindowStatus } from '#contract';

/** `5-hour`, `weekly`, `weekly of opus`. */
export function windowName({ kind, scope, id }: Pick<MeterWindowStatus, 'kind' | 'scope' | 'id'>): string {
  const name = kind === 'five_hour' ? '5-hour' : kind === 'other' ? (id.split(':')[0] ?? id) : kind;
  return scope === null ? name : `${name} of ${scope}`;
}

/** The same of one of which only the id is at hand: `five_hour`, `weekly:opus`. */
export function windowNameOf(id: string): string {
  const [base = id, scope] = id.split(':');
  const name = base === 'five_hour' ? '5-hour' : base;
  return scope === undefined ? name : `${name} of ${scope}`;
}
