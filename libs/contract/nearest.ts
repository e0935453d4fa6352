/**
 * The allowed word that was probably meant, or null when none is near. Other case counts as the same word
 * (`Codex` → `codex`); else at most a third of the letters may differ, a swap of neighbours counting once.
 */
export function nearest(seen: string, allowed: Iterable<string>): string | null {
  const word = seen.toLowerCase().slice(0, 100);
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of allowed) {
    const distance = word === candidate.toLowerCase() ? 0 : editDistance(word, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** The end of a refusal: `; nearest: …`, or nothing when no allowed word is near. */
export function nearestText(near: string | null): string {
  return near === null ? '' : `; nearest: ${near}`;
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
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, at(before, j - 2) + 1);
      row.push(cost);
    }
    before = above;
    above = row;
  }
  return above[b.length] ?? 0;
}
