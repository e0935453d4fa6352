import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onLeave } from './on-leave.js';

/**
 * A fresh folder (mode 0700), removed when the test process leaves. The path is short, because a unix socket's path
 * must stay under 108 bytes, and real, because a process reports its cwd without symbolic links.
 * CMO_TEST_KEEP=1 keeps the folders for a look.
 */
export function tempFolder(label = 't'): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), `cmo-${label}-`));
  if (process.env['CMO_TEST_KEEP'] !== '1') onLeave(() => removeFolder(folder));
  return folder;
}

/** Retries: a process that is just ending may still write into it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}
