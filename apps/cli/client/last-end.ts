import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Paths } from '#config';
import type { LastEnd } from '#daemon/client';

/**
 * How the last daemon ended, when it did not leave in order. Only where there may be something to read is anything
 * loaded for it.
 */
export async function lastEndOf({ state }: Pick<Paths, 'state'>, now: number, up: boolean): Promise<LastEnd | null> {
  // A lock without its daemon was left by one that was killed.
  if (!existsSync(join(state, 'daemon.ended.json')) && (up || !existsSync(join(state, 'daemon.lock')))) return null;
  const { readLastEnd } = await import('#daemon/client');
  return readLastEnd(state, now);
}
