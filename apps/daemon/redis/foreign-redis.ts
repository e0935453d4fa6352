import { errorBody, shownRedisAddress, type ErrorBody } from '#contract';
import { connect } from '#store';
import type { Redis } from 'ioredis';

/** A Redis that somebody else runs (CMO_REDIS_URL): reachable or not, and what about it would break a promise. */
export type ForeignRedis =
  { ok: true; address: string; version: string | null; warnings: string[] } | { ok: false; error: ErrorBody };

const REACH_MS = 5_000;

export async function checkForeignRedis(url: string): Promise<ForeignRedis> {
  const address = shownRedisAddress(url);
  const unreachable = (why: string): ForeignRedis => ({
    ok: false,
    error: errorBody('CMO_E_REDIS', `Redis at ${address} cannot be reached`, {
      details: [why],
      fix: /certificate/i.test(why)
        ? 'name the file of its authority: rediss://…?ca=/path/ca.pem'
        : 'start it, or fix redisUrl (CMO_REDIS_URL)',
    }),
  });
  let redis: Redis;
  try {
    redis = connect({ url }, 'caller', 'check');
  } catch (error) {
    return unreachable((error as Error).message);
  }
  let why = `no answer within ${REACH_MS / 1000} s`;
  redis.on('error', (error: Error) => (why = wordsOf(error)));
  try {
    const answer = await Promise.race([
      redis.ping().catch((error: unknown) => error),
      new Promise((resolve) => setTimeout(resolve, REACH_MS).unref()),
    ]);
    if (answer !== 'PONG') {
      if (answer instanceof Error && answer.name !== 'MaxRetriesPerRequestError') why = wordsOf(answer);
      return unreachable(why);
    }
    return { ok: true, address, version: await versionOf(redis), warnings: await warningsOf(redis) };
  } finally {
    redis.disconnect();
  }
}

/** Of several addresses that were tried, the error has a code and no words. */
function wordsOf(error: Error): string {
  return error.message.slice(0, 200) || ((error as NodeJS.ErrnoException).code ?? error.name);
}

async function versionOf(redis: Redis): Promise<string | null> {
  const info = await redis.info('server').catch(() => '');
  return /^(?:redis|valkey)_version:(\S+)/m.exec(info)?.[1] ?? null;
}

/** Managed services often forbid CONFIG: then the warning says that the settings were not checked. */
async function warningsOf(redis: Redis): Promise<string[]> {
  const setting = async (name: string): Promise<string | null> => {
    const reply: unknown = await redis.call('CONFIG', 'GET', name).catch(() => null);
    return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : null;
  };
  const [policy, appendOnly] = [await setting('maxmemory-policy'), await setting('appendonly')];
  const warnings: string[] = [];
  if (policy === null || appendOnly === null)
    warnings.push('its settings cannot be read: make sure of maxmemory-policy noeviction and appendonly yes');
  if (policy !== null && policy !== 'noeviction')
    warnings.push(`maxmemory-policy is ${policy}: it may throw queued work away; set noeviction`);
  if (appendOnly === 'no') warnings.push('appendonly is off: a restart loses acknowledged work; set appendonly yes');
  return warnings;
}
