import type { Origin } from './origin.js';

/** A value that one source may hold; undefined: it does not speak of it. */
export type Given<T> = { value: T | undefined; origin: Origin };

/** Takes the last source that speaks, and remembers which it was. */
export class Merge {
  readonly origins = new Map<string, Origin>();

  pick<T>(path: string, base: Given<T> & { value: T }, ...given: Given<T>[]): T {
    let chosen: { value: T; origin: Origin } = base;
    for (const { value, origin } of given) if (value !== undefined) chosen = { value, origin };
    this.origins.set(path, chosen.origin);
    return chosen.value;
  }
}

export function byDefault<T>(value: T): { value: T; origin: Origin } {
  return { value, origin: { from: 'default' } };
}
