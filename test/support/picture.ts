import type { Redis } from 'ioredis';

/** All that Redis holds. @returns puts it back to that, as a server does that comes back with less */
export async function pictureOf(redis: Redis): Promise<() => Promise<void>> {
  const names = await redis.keys('*');
  const texts = await Promise.all(names.map((name) => redis.dumpBuffer(name)));
  return async () => {
    await redis.flushall();
    for (const [i, name] of names.entries()) {
      const text = texts[i];
      if (text) await redis.restore(name, 0, text);
    }
  };
}
