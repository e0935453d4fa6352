import { parseDuration, parseRedisAddress, REDIS_ADDRESS_FORMS } from '#contract';
import { leaf, secret, text, type Shape } from './shape.js';

export { parseDuration };

/** Names that mean something on every object: refused as names, so that no later code has to think of it. */
const RESERVED: ReadonlySet<string> = new Set(['__proto__', ...Object.getOwnPropertyNames(Object.prototype)]);

const NAME = /^[a-z][a-z0-9-]{0,31}$/;

export function isName(value: string): boolean {
  return NAME.test(value) && !RESERVED.has(value);
}

/** Lane, account, vendor: used in queue names, Redis keys and file names. */
export const name: Shape<string> = text('a name of small letters, digits and - (at most 32)', isName);

/** The lanes are known only once the whole file is read: cross-checks.ts compares. */
export const laneId: Shape<string> = text('the id of a lane');

/** A node's queues are `<lane>@<node>`, and `<lane>@any` is everybody's. */
export function isNodeId(value: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(value) && value !== 'any' && !RESERVED.has(value);
}
export const nodeId: Shape<string> = text('a machine name of letters, digits, . _ and - (not "any")', isNodeId);

/** It becomes one word of an argv: a leading dash would be read as a flag there. */
export function isModelId(value: string): boolean {
  return /^[^\s\p{Cc}-][^\s\p{Cc}]{0,199}$/u.test(value);
}
export const modelId: Shape<string> = text('a model id', isModelId);
export const effort: Shape<string> = text('an effort word (low, medium, high, …)', (value) =>
  /^[a-z][a-z0-9_-]{0,31}$/.test(value),
);

export function isVariableName(value: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(value) && !RESERVED.has(value);
}
export const variableName: Shape<string> = text('the name of an environment variable', isVariableName);
export const variableValue: Shape<string> = secret('a text', (value) => !value.includes('\0'));

/** Which folder a relative one would start from depends on who reads it: CLI, daemon, another box. */
export const absolutePath: Shape<string> = text(
  'an absolute path, or one that begins with ~/',
  (value) => /^(\/|~\/|[A-Za-z]:[\\/])/.test(value) && !value.includes('\0'),
);
export const command: Shape<string> = text(
  'the name of a program, or its path',
  (value) => value.trim() !== '' && !value.startsWith('-') && !value.includes('\0'),
);

/** May hold a password. */
export const redisUrl: Shape<string> = secret(
  `a Redis address: ${REDIS_ADDRESS_FORMS}`,
  (value) => parseRedisAddress(value) !== null,
);
export const token: Shape<string> = secret('the token that the coordinator printed', (value) =>
  /^[\x21-\x7e]{16,1000}$/.test(value),
);
export const webUrl: Shape<string> = text(
  'an http or https address',
  (value) => hasScheme(value, ['http:', 'https:']) && !/\/\/[^/]*@/.test(value),
);

function hasScheme(value: string, schemes: string[]): boolean {
  return URL.canParse(value) && schemes.includes(new URL(value).protocol);
}

/** `09:00`, a time of the box's own day. Minutes since midnight come out; `24:00` is the end of the day. */
export const clockTime: Shape<number> = leaf(
  'a time of the day such as "09:00"',
  { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$' },
  (value) => {
    const match = typeof value === 'string' ? /^([01]\d|2[0-3]):([0-5]\d)$|^(24):(00)$/.exec(value) : null;
    return match ? Number(match[1] ?? match[3]) * 60 + Number(match[2] ?? match[4]) : undefined;
  },
);

/** In the file a bare number is milliseconds, as it always was there; a text needs its unit. */
export function duration(minMs: number, maxMs: number): Shape<number> {
  return leaf(
    `milliseconds ${minMs}..${maxMs}, or a text such as "90s", "5m", "8h"`,
    {
      anyOf: [
        { type: 'integer', minimum: minMs, maximum: maxMs },
        { type: 'string', pattern: '^[0-9.]+(ms|s|m|h|d)$' },
      ],
    },
    (value) => {
      const ms = typeof value === 'string' && !/^[\d.]*$/.test(value) ? parseDuration(value, 'ms') : value;
      return typeof ms === 'number' && Number.isInteger(ms) && ms >= minMs && ms <= maxMs ? ms : undefined;
    },
  );
}
