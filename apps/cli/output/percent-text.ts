/** Ten cells, as many full as tenths of the window are used; past 100 % all of them. */
export function percentBar(percent: number): string {
  const full = Math.max(0, Math.min(10, Math.round(percent / 10)));
  return '█'.repeat(full) + '·'.repeat(10 - full);
}

/** Percents, points and scores: at most one decimal, and none where it would be 0. */
export function shortNumber(value: number): string {
  return String(Number(value.toFixed(1)));
}
