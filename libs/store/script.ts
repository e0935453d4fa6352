import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A Lua operation: its text with includes put in, and its digest. */
export type Script = { name: string; text: string; sha: string };

/** `--@include name` lines are replaced by the named part; an unknown name is a bug and throws at load. */
export function script(name: string, text: string, parts: Record<string, string> = {}): Script {
  const whole = text.replace(/^--@include (\S+)$/gm, (_, part: string) => {
    const found = Object.hasOwn(parts, part) ? parts[part] : undefined;
    if (found === undefined) throw new Error(`script ${name} includes unknown part ${part}`);
    return found;
  });
  return { name, text: whole, sha: createHash('sha1').update(whole).digest('hex') };
}

/**
 * Runs one. ARGV[1] is its argument, one JSON value; what JSON can't carry, bytes, are the ARGV behind it.
 * EVALSHA first: a restarted Redis has forgotten the text.
 */
export async function evaluate(
  redis: Redis,
  operation: Script,
  names: string[],
  argument: unknown,
  bytes: readonly Buffer[] = [],
): Promise<unknown> {
  const args = [...names, JSON.stringify(argument), ...bytes];
  try {
    return await redis.evalsha(operation.sha, names.length, ...args);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return await redis.eval(operation.text, names.length, ...args);
  }
}

/** For scripts that answer JSON of a known shape: the shape is ours, written in the script's header. */
export async function evaluateJson<T>(
  redis: Redis,
  operation: Script,
  names: string[],
  argument: unknown,
  bytes: readonly Buffer[] = [],
): Promise<T> {
  const reply = await evaluate(redis, operation, names, argument, bytes);
  if (typeof reply !== 'string') throw new Error(`script ${operation.name} answered ${typeof reply}`);
  return JSON.parse(reply) as T;
}
