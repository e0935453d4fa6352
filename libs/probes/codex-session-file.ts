import { open } from 'node:fs/promises';
import { readRateLimitLine, type RateLimitEntry } from './codex-rate-limits.js';
import type { SessionFile } from './codex-session-files.js';
import { linesFromEnd } from './lines-from-end.js';

/** What one session file says, without any clock; worth keeping as long as size and modification time stay. */
export type FileFinding = {
  /** The last entry of the account's pool that has a window. */
  entry: RateLimitEntry | null;
  /** An entry after it that has no window but says that the account is closed (credits used up). */
  closedAfter: RateLimitEntry | null;
  /** Model pools seen on the way. */
  otherPools: string[];
  unreadable: boolean;
  /** The bound on reading ended the search. */
  bounded: boolean;
};

/** codex's own lines are about 1 KB; what is longer is tool output. */
const MAX_LINE_BYTES = 64 * 1024;
const CHUNK_BYTES = 1024 * 1024;
/** Both are in a line we want; the less frequent one is searched for. */
const NEEDLE = '"rate_limits"';

/**
 * The last reading of one session file, searched from its end. Lines whose limits are null or empty carry no
 * information and are passed over. Reads at most `allowance.bytes`, and counts them down.
 */
export async function readSessionFile(file: SessionFile, allowance: { bytes: number }): Promise<FileFinding> {
  const finding: FileFinding = { entry: null, closedAfter: null, otherPools: [], unreadable: false, bounded: false };
  try {
    const handle = await open(file.path, 'r');
    try {
      for await (const line of linesFromEnd(handle, file.size, {
        needle: NEEDLE,
        maxLineBytes: MAX_LINE_BYTES,
        chunkBytes: CHUNK_BYTES,
        allowance,
      })) {
        const entry = readRateLimitLine(line);
        if (!entry) continue;
        if (!entry.accountPool) {
          const pool = entry.limitId ?? '';
          if (finding.otherPools.length < 8 && !finding.otherPools.includes(pool)) finding.otherPools.push(pool);
        } else if (entry.slots.length > 0) {
          finding.entry = entry;
          return finding;
        } else if (entry.reached !== null) {
          finding.closedAfter ??= entry;
        }
      }
      finding.bounded = allowance.bytes <= 0;
    } finally {
      await handle.close();
    }
  } catch {
    finding.unreadable = true;
  }
  return finding;
}
