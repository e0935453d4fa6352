import { cutTo, textWidth } from './char-width.js';

// An escape sequence takes no room on the screen.
const ESCAPES = /\u001b\[[0-9;]*m/g;

/** Below this a last column is too thin to read: it goes below its row. */
const LEAST = 30;

/**
 * Columns two blanks apart, each as wide as its widest cell; the last one is not padded.
 * @param columns of the terminal: the last cell of a row that is wider goes on below itself, or below its row; null: no
 *   row is broken, so that what reads a pipe finds a row in a line
 */
export function table(rows: readonly (readonly string[])[], columns: number | null = null): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, width(cell));
  return rows.flatMap((row) => {
    const front = row
      .slice(0, -1)
      .map((cell, i) => `${cell}${' '.repeat(Math.max(0, (widths[i] ?? 0) - width(cell)))}  `)
      .join('');
    const last = row.at(-1) ?? '';
    const line = `${front}${last}`.trimEnd();
    if (columns === null || width(line) <= columns) return [line];
    const begin = width(front);
    if (columns - begin >= LEAST)
      return wrapped(last, columns - begin).map((text, i) => `${i === 0 ? front : ' '.repeat(begin)}${text}`);
    const indent = ' '.repeat(2 + front.search(/[^ ]|$/));
    return [front.trimEnd(), ...wrapped(last, columns - indent.length).map((text) => `${indent}${text}`)];
  });
}

/**
 * Broken between words; a word that no line holds stays whole, and where it is.
 * @param indent blanks in front of every line but the first
 */
export function wrapped(text: string, columns: number | null, indent = 0): string[] {
  if (columns === null || width(text) <= columns) return [text];
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined) lines.push(word);
    else if (width(last) + 1 + width(word) > columns && width(word) <= columns - indent)
      lines.push(`${' '.repeat(indent)}${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Lines for people, each broken under its own text where it is longer than the terminal. */
export function fitted(lines: readonly string[], columns: number | null, indent: number): string[] {
  return lines.flatMap((line) => wrapped(line, columns, indent));
}

/** In columns of a terminal. */
export function width(text: string): number {
  return textWidth(text.replace(ESCAPES, ''));
}

/**
 * Nothing that moves a cursor, colours or turns what comes after: a folder may have any name, an agent say anything.
 */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '');
}

/** One line, cut to `max` columns. */
export function clip(text: string, max: number): string {
  const flat = plain(text.replace(/\s+/g, ' ')).trim();
  return textWidth(flat) > max ? `${cutTo(flat, Math.max(1, max - 1))}…` : flat;
}
