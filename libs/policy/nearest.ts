/**
 * The allowed word a person most likely meant: same letters in another case, else one that starts with what was typed (or the
 * reverse), else the smallest edit distance; the earlier one on a tie. Null only when nothing is allowed.
 */
export function nearest(word: string, allowed: readonly string[]): string | null {
  const seen = word.trim().toLowerCase().slice(0, 64);
  const related = allowed.filter((other) => seen.length > 1 && (other.toLowerCase().startsWith(seen) || seen.startsWith(other.toLowerCase())));
  const pool = related.length > 0 ? related : allowed;
  let best: string | null = null;
  let least = Infinity;
  for (const other of pool) {
    const distance = editDistance(seen, other.toLowerCase());
    if (distance < least) [best, least] = [other, distance];
  }
  return best;
}

/** Insertions, deletions, substitutions and swaps of neighbours (a swap is the commonest slip of the hand). */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const at = (line: number[], k: number): number => line[k] ?? Infinity;
      let cost = Math.min(at(above, j) + 1, at(row, j - 1) + 1, at(above, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, at(before, j - 2) + 1);
      row.push(cost);
    }
    before = above;
    above = row;
  }
  return above[b.length] ?? 0;
}
