/** Careful looks into parsed JSON of unknown shape: vendors' events change, and a wrong type must never throw. */
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function member(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A number, also one that came as a string ("529"). */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  return typeof value === 'string' && /^-?\d{1,15}(?:\.\d+)?$/.test(value.trim()) ? Number(value) : null;
}

/** A count of tokens: whole, not negative, else 0. */
export function countOf(value: unknown): number {
  const number = numberOf(value);
  return number !== null && number > 0 ? Math.floor(number) : 0;
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false };
  }
}

const GLUED_MAX = 1000;

/** Objects on one line with no newline between them (two writers on one pipe); none unless the whole line is that. */
export function gluedObjects(text: string): JsonObject[] {
  const objects: JsonObject[] = [];
  let depth = 0;
  let start = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (inString) {
      if (char === '\\') i += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{') depth += 1;
    else if (char === '}') {
      depth -= 1;
      if (depth !== 0) continue;
      const parsed = parseJson(text.slice(start, i + 1));
      if (!parsed.ok || !isObject(parsed.value) || objects.length === GLUED_MAX) return [];
      objects.push(parsed.value);
      start = i + 1;
    }
  }
  return text.slice(start).trim() === '' ? objects : [];
}

/** `usageLimitExceeded` and `Usage-Limit-Exceeded` → `usage_limit_exceeded`. */
export function snakeCase(word: string): string {
  return word
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[\s-]+/g, '_')
    .toLowerCase();
}

/** A session id becomes an argument of the CLI later: nothing that could be read as an option. */
export function sessionId(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(value) ? value : null;
}
