/** Of East Asian width "wide" or "fullwidth", as terminals draw them; emoji that are drawn as such by themselves. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Drawn over what stands before, or not at all. U+FE0F is not among them: it makes many a sign before it wide. */
const NONE = /[\p{Mn}\p{Me}\p{Cf}]/u;
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * Columns of a terminal that a text takes. Signs that are joined to one are counted each: rather a column too many than
 * a line that runs over the edge.
 */
export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const sign of text) columns += signWidth(sign);
  return columns;
}

/** As much of it from its begin as takes no more than that many columns. */
export function cutTo(text: string, columns: number): string {
  if (PLAIN.test(text)) return text.slice(0, columns);
  let kept = '';
  let left = columns;
  for (const sign of text) {
    left -= signWidth(sign);
    if (left < 0) break;
    kept += sign;
  }
  return kept;
}

function signWidth(sign: string): number {
  if (sign === '\ufe0f') return 1;
  if (NONE.test(sign)) return 0;
  return WIDE.test(sign) ? 2 : 1;
}
