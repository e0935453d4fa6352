import { nearest } from '#contract';
import type { Flag, Flags } from '../flags/flag.js';
import type { Wrong } from '../flags/parse.js';
import type { Told, TaskValues } from './told.js';
import { TASK_FLAGS } from './task-flags.js';

/**
 * One thing said of a task outside the command line. `at` names where it stands: `job.md:3 role`, `night.jsonl:17
 * role`.
 */
export type Said = { key: string; value: unknown; at: string };

/** The task itself has its own place in a file; what the sender's box hands over is the command line's to say. */
const NOT_IN_FILES: readonly string[] = ['prompt', 'promptFile', 'dispatch', 'env', 'batchName', 'json', 'human'];
const FLAGS: Flags = TASK_FLAGS;
/** key → member of TASK_FLAGS: the flags' names without their dashes. */
const KEYS = new Map(
  Object.entries(FLAGS).flatMap(([member, { name }]) =>
    NOT_IN_FILES.includes(member) ? [] : [[name.slice(2), member] as const],
  ),
);

export const FILE_KEYS: readonly string[] = [...KEYS.keys()];

const YES = ['true', 'yes', 'on', '1'];
const NO = ['false', 'no', 'off', '0'];

/**
 * Keys and values of a file, read by the flags' own readers: nothing is right in a file that would be wrong on the
 * command line. An unknown or duplicate key is an error like a wrong value: nothing is ignored silently.
 */
export function valuesOf(said: readonly Said[]): { told: Told; wrong: Wrong[] } {
  const values = new Map<string, unknown>();
  const where = new Map<string, string>();
  const wrong: Wrong[] = [];
  for (const { key, value, at } of said) {
    const member = KEYS.get(key);
    const flag = member === undefined ? undefined : FLAGS[member];
    if (member === undefined || flag === undefined) {
      wrong.push({ flag: at, seen: 'an unknown key', allowed: FILE_KEYS.join(', '), nearest: nearest(key, FILE_KEYS) });
      continue;
    }
    if (where.has(member) && !flag.repeats)
      wrong.push({ flag: at, seen: 'a duplicate key', allowed: 'each key once', nearest: null });
    where.set(member, at);
    const reading = readOne(flag, value);
    if (!reading.ok) wrong.push({ flag: at, seen: reading.seen, allowed: reading.allowed, nearest: reading.nearest });
    else if (reading.value !== NOT_SAID)
      values.set(
        member,
        flag.repeats
          ? [...((values.get(member) as unknown[] | undefined) ?? []), ...(reading.value as unknown[])]
          : reading.value,
      );
  }
  return { told: { values: Object.fromEntries(values) as TaskValues, where }, wrong };
}

type One = { ok: true; value: unknown } | { ok: false; seen: string; allowed: string; nearest: string | null };
/** `write: false`: as if the key did not stand there. */
const NOT_SAID = Symbol('not said');

function readOne(flag: Flag<unknown>, value: unknown): One {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    return { ok: false, seen: kindOf(value), allowed: 'a text, a number, true or false', nearest: null };
  const text = String(value);
  const seen = typeof value === 'string' ? JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text) : text;
  if (flag.value !== null) {
    const reading = flag.read(text);
    return reading.ok ? reading : { ok: false, seen, allowed: reading.allowed, nearest: reading.nearest };
  }
  const word = text.toLowerCase();
  if (YES.includes(word)) return { ok: true, value: true };
  if (NO.includes(word)) return { ok: true, value: NOT_SAID };
  return { ok: false, seen, allowed: 'true or false', nearest: nearest(word, ['true', 'false']) };
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : 'an object';
}
