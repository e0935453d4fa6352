import { errorBody, type ErrorBody } from '#contract';
import { keys, LAYOUT_VERSION } from '#store';
import type { Redis } from 'ioredis';

/**
 * Marks a new Redis with the layout's number; one that bears another was written by another cmo, and is left alone.
 * Null: it is ours.
 */
export async function claimLayout(redis: Redis): Promise<ErrorBody | null> {
  const ours = String(LAYOUT_VERSION);
  await redis.setnx(keys.version, ours);
  const found = await redis.get(keys.version);
  if (found === ours) return null;
  return errorBody(
    'CMO_E_REDIS',
    `this Redis was written by another version of cmo (layout ${found ?? 'unknown'}, ours is ${ours})`,
    {
      fix: 'use the cmo that wrote it, or give this one its own CMO_STATE_DIR',
    },
  );
}
