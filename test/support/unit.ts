/**
 * A unit as systemd.syntax(7) and systemd.service(5) have it read, without our own writer's code: quotes, C escapes, %%
 * and, in arguments, $$.
 */
export type Unit = { command: string[]; environment: Record<string, string>; settings: Record<string, string> };

export function unitOf(text: string): Unit {
  const lines = text.split('\n').filter((line) => /^[A-Za-z]+=/.test(line));
  const pairs = lines.map((line): [string, string] => [
    line.slice(0, line.indexOf('=')),
    line.slice(line.indexOf('=') + 1),
  ]);
  const valuesOf = (name: string): string[] => pairs.flatMap(([key, value]) => (key === name ? [value] : []));
  const environment = valuesOf('Environment')
    .flatMap(wordsOf)
    .map((word): [string, string] => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]);
  const [program = '', ...args] = valuesOf('ExecStart').flatMap(wordsOf);
  return {
    command: [program, ...args.map((word) => word.replaceAll('$$', () => '$'))],
    environment: Object.fromEntries(environment),
    settings: Object.fromEntries(pairs),
  };
}

function wordsOf(value: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let i = 0; i < value.length; i++) {
    const [one = '', next = ''] = [value[i], value[i + 1]];
    if (one === '\\') [word, i] = [(word ?? '') + escape(next), i + 1];
    else if (one === '%') {
      if (next !== '%') throw new Error(`a specifier: %${next}`);
      [word, i] = [`${word ?? ''}%`, i + 1];
    } else if (quote !== null && one === quote) quote = null;
    else if (quote === null && (one === '"' || one === "'") && word === null) [quote, word] = [one, ''];
    else if (quote === null && one === ' ') {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + one;
  }
  if (quote !== null) throw new Error(`a quote that does not end: ${value}`);
  return word === null ? words : [...words, word];
}

function escape(letter: string): string {
  if (letter !== '\\' && letter !== '"' && letter !== "'")
    throw new Error(`an escape that is not expected here: \\${letter}`);
  return letter;
}
