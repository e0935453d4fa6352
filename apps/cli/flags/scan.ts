import type { Flags } from './flag.js';

/** Texts by the flag's key, in their order; and the words that are no flags. */
export type Scanned = { kind: 'scanned'; given: Map<string, string[]>; words: string[] };

/**
 * The plain case of a command line: flags that are known, written out, with their values. Null for anything else, which
 * is commander's to understand or refuse: loading that costs a start two milliseconds. The suite holds the two to each
 * other.
 */
export function scan(flags: Flags, argv: readonly string[]): Scanned | null {
  const given = new Map<string, string[]>();
  const words: string[] = [];
  const known = Object.entries(flags);
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (!word.startsWith('-') || word === '-') {
      words.push(word);
      continue;
    }
    const at = word.indexOf('=');
    const name = at === -1 ? word : word.slice(0, at);
    const [key, flag] = known.find(([, one]) => one.name === name) ?? [];
    if (key === undefined || flag === undefined || (flag.value === null && at !== -1)) return null;
    let value: string | undefined = '';
    if (flag.value !== null) value = at === -1 ? argv[++i] : word.slice(at + 1);
    if (value === undefined) return null;
    given.set(key, [...(given.get(key) ?? []), value]);
  }
  return { kind: 'scanned', given, words };
}
