import { editDistance } from '#contract';

/**
 * The word of a closed list that a person most likely meant; a refusal always names one. (The contract's `nearest` is
 * for names that people give, of which none may be near.) Same letters in another case, else one that starts with what
 * was typed (or the reverse), else the smallest edit distance; the earlier one on a tie. Null only when nothing is
 * allowed.
 */
export function nearest(word: string, allowed: readonly string[]): string | null {
  const seen = word.trim().toLowerCase().slice(0, 64);
  const related = allowed.filter(
    (other) => seen.length > 1 && (other.toLowerCase().startsWith(seen) || seen.startsWith(other.toLowerCase())),
  );
  const pool = related.length > 0 ? related : allowed;
  let best: string | null = null;
  let least = Infinity;
  for (const other of pool) {
    const distance = editDistance(seen, other.toLowerCase());
    if (distance < least) [best, least] = [other, distance];
  }
  return best;
}
