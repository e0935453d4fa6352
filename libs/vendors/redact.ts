/** Names whose values say where things lie or who is at work: no secrets, and a failure is not understood without them. */
const ORDINARY = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_ALL|TERM|TMPDIR|TZ|CODEX_HOME|CLAUDE_CONFIG_DIR|(XDG|CMO)_.*)$/;
/** Shorter values are words such as `1` or `true`, which any sentence may hold. */
const SHORTEST = 8;

/**
 * What a CLI printed, with the values of its environment told by their names (pure): a CLI that fails may print what it was given
 * (a key that was refused, a proxy with its password), and its words go into records, receipts and listings.
 */
export function redact(words: string, environment: Readonly<Record<string, string>>): string {
  const secrets = Object.entries(environment)
    .flatMap(([name, value]) => (ORDINARY.test(name) ? [] : [value, ...passwordOf(value)].map((text) => ({ name, text: text.trim() }))))
    .filter(({ text }) => text.length >= SHORTEST)
    // What holds another goes first.
    .sort((one, other) => other.text.length - one.text.length);
  let clean = words;
  for (const { name, text } of secrets) {
    clean = clean.replaceAll(text, `[${name}]`);
    // The words are capped: one may have been cut in the middle.
    const cut = cutAtEnd(clean, text);
    if (cut > 0) clean = `${clean.slice(0, -cut)}[${name}]`;
  }
  return clean;
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

function cutAtEnd(words: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, words.length); length >= SHORTEST; length--) {
    if (words.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}
