import { expect, test } from 'vitest';
import { readJson } from '#config/json-text';

test('a text of twenty million characters is read: a prompt in a line of a batch may be long', () => {
  const value = { prompt: `${'x'.repeat(20_000_000)}\n"` };
  const read = readJson(JSON.stringify(value));
  expect(read.ok && (read.value as typeof value).prompt === value.prompt).toBe(true);
});

test.each([
  '"',
  '"a',
  '"a\\',
  '"a\\"',
  '"\\x"',
  '"\\u12g4"',
  '"\\u123"',
  '"a\tb"',
  '"a\u0000b"',
  '"a\nb"',
  '""',
  '"\\\\"',
  '"\\u0041\\n\\/\\b"',
  '"é😀\u2028\u007f"',
  '{"a":"b","c\\n":"\\"}"}',
])('%j is a JSON text for it just when it is one', (text) => {
  let right = true;
  try {
    JSON.parse(text);
  } catch {
    right = false;
  }
  expect(readJson(text).ok).toBe(right);
});
