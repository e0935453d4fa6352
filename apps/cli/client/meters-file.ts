import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LimitsData, MetersFile } from '#contract';
import type { Paths } from '#config';

/**
 * What the daemon last wrote of the meters, without asking anybody. Null: no daemon has run here, or the file is none
 * of ours.
 */
export function readMetersFile({ state }: Pick<Paths, 'state'>): LimitsData | null {
  try {
    const file = JSON.parse(readFileSync(join(state, 'meters.json'), 'utf8')) as Partial<MetersFile> | null;
    return file?.schema === 'cmo.meters/1' && Array.isArray(file.accounts) && typeof file.writtenAt === 'string'
      ? (file as MetersFile)
      : null;
  } catch {
    return null;
  }
}
