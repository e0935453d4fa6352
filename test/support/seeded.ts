/**
 * CMO_TEST_SEED repeats a run's choices and moments, as far as
 * processes can be repeated; `npm run chaos -- SEED` sets it.
 */
export const SEED = Number(process.env['CMO_TEST_SEED'] ?? Date.now() % 1_000_000);

/** Moments at which something is struck, for each victim; `npm run chaos` asks for twenty. */
export const POINTS = Number(process.env['CMO_CHAOS_POINTS'] ?? 3);

export type Random = () => number;

/** mulberry32 */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function oneOf<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[Math.floor(random() * choices.length)] ?? choices[0];
}
