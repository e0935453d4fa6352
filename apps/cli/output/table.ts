// An escape sequence takes no room on the screen.
const ESCAPES = /\u001b\[[0-9;]*m/g;

/** Columns two blanks apart, each as wide as its widest cell; the last one is not padded. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, width(cell));
  return rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat(Math.max(0, (widths[i] ?? 0) - width(cell)))))
      .join('  ')
      .trimEnd(),
  );
}

function width(text: string): number {
  return [...text.replace(ESCAPES, '')].length;
}

/** One line, cut to `max` characters. */
export function clip(text: string, max: number): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length > max ? `${flat.slice(0, Math.max(1, max - 1))}…` : flat;
}
