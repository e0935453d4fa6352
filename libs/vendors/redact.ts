/**
 * Names whose values say where things lie or who is at work: no secrets, and a failure is not understood without them.
 */
const ORDINARY =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_ALL|TERM|TMPDIR|TZ|CODEX_HOME|CLAUDE_CONFIG_DIR|(XDG|CMO)_.*)$/;
/** Shorter values are words such as `1` or `true`, which any sentence may hold. */
const SHORTEST = 8;

/** Of a prompt, shorter lines are words that a failure's sentence may hold by itself. */
const SHORTEST_LINE = 24;

/**
 * What a CLI printed, with the values of its environment told by their names and lines of its prompt as `[prompt]`
 * (pure): a CLI that fails may print what it was given (a key that was refused, a proxy with its password, the task),
 * and its words go into records, receipts and listings.
 */
export function redact(words: string, environment: Readonly<Record<string, string>>, prompt = ''): string {
  const secrets = Object.entries(environment)
    .flatMap(([name, value]) =>
      ORDINARY.test(name) ? [] : [value, ...passwordOf(value)].map((text) => ({ name, text: text.trim() })),
    )
    .filter(({ text }) => text.length >= SHORTEST)
    // What holds another goes first.
    .sort((one, other) => other.text.length - one.text.length);
  let clean = words;
  for (const { name, text } of secrets) clean = without(clean, text, name, SHORTEST);
  for (const line of new Set(prompt.split('\n')))
    if (line.trim().length >= SHORTEST_LINE) clean = without(clean, line.trim(), 'prompt', SHORTEST_LINE);
  return clean;
}

/** The words are capped, at either end: the text may have been cut in the middle. */
function without(words: string, text: string, name: string, shortest: number): string {
  let clean = words.replaceAll(text, `[${name}]`);
  const end = cut(clean, text, shortest, (length) => clean.endsWith(text.slice(0, length)));
  if (end > 0) clean = `${clean.slice(0, -end)}[${name}]`;
  const start = cut(clean, text, shortest, (length) => clean.startsWith(text.slice(-length)));
  return start > 0 ? `[${name}]${clean.slice(start)}` : clean;
}

function passwordOf(value: string): string[] {
  if (!value.includes('://') || !URL.canParse(value)) return [];
  const { password } = new URL(value);
  return password === '' ? [] : [password, safeDecode(password)];
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** How much of the text stands there, cut: 0 for less than the shortest. */
function cut(words: string, text: string, shortest: number, stands: (length: number) => boolean): number {
  for (let length = Math.min(text.length - 1, words.length); length >= shortest; length--)
    if (stands(length)) return length;
  return 0;
}
