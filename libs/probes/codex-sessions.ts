import { rawWindows, type RateLimitEntry } from './codex-rate-limits.js';
import { readSessionFile, type FileFinding } from './codex-session-file.js';
import { findSessionFiles, type FoundSessions, type SessionFile } from './codex-session-files.js';
import { dark, type Dark, type Probe, type Reached, type Reading } from './reading.js';
import { isClosed, ofKind, resetWithin, SKEW_MS, windowsAt } from './windows.js';

/**
 * Findings of files that did not change since, by path. Give the same one to every call: an idle box then reads
 * nothing.
 */
export type SessionMemo = Map<string, { size: number; mtimeMs: number; finding: FileFinding }>;

export type SessionQuery = {
  /** Folders of sessions: `sessionRoots(codexHome)`, or the one from the config. */
  roots: readonly string[];
  account: string;
  /** Milliseconds. */
  now: number;
  /**
   * How far the clock of `now` is ahead of this box's, ms; default 0. Lines and files carry the box's time, resets the
   * vendor's: with a box that runs five minutes ahead, one of the two would else be read wrong by that much.
   */
  offsetMs?: number;
  memo?: SessionMemo;
  /** Look only at this many of the newest files (by name): a cheap look between full ones. */
  maxFiles?: number;
  /** At most this many bytes in all and of one file; they bound the worst case, a usual call reads a few MB. */
  maxBytes?: number;
  maxFileBytes?: number;
};

type Dated<T> = { at: number; value: T };
type BoxClock = { now: number; offsetMs: number };

/**
 * The newest files by name are read whatever their modification time says: copies and restored folders have wrong ones.
 */
const ALWAYS_READ = 8;
const MAX_READS = 256;
const GIB = 1024 ** 3;

/**
 * The account's last reading in codex's session files. Runs write side by side, so the reading with the newest time of
 * writing wins, whichever file it is in; files that were not touched since that time can't hold a newer one. Never
 * throws; what can't be read makes the meter dark with a reason.
 */
export async function readCodexSessions(query: SessionQuery): Promise<Probe> {
  const { now, memo, offsetMs = 0 } = query;
  const clock = { now, offsetMs };
  const found = await findSessionFiles(query.roots, query.maxFiles);
  const total = { bytes: query.maxBytes ?? 2 * GIB };
  const findings: FileFinding[] = [];
  let entry: Dated<RateLimitEntry> | null = null;
  let closed: Dated<RateLimitEntry> | null = null;
  for (const file of inReadingOrder(found.files)) {
    if (findings.length >= MAX_READS || total.bytes <= 0) break;
    if (!file.always && entry !== null && file.mtimeMs + offsetMs + SKEW_MS < entry.at) continue;
    const finding = await readRemembered(file, total, query.maxFileBytes ?? 1.25 * GIB, memo);
    findings.push(finding);
    entry = newer(entry, finding.entry, file, clock);
    closed = newer(closed, finding.closedAfter, file, clock);
  }
  if (memo) forgetOthers(memo, found.files);
  if (closed !== null && entry !== null && closed.at < entry.at) closed = null;
  if (entry === null && closed === null) return nothing(found, findings);
  return { kind: 'reading', reading: assemble(entry, closed, query) };
}

function inReadingOrder(files: readonly SessionFile[]): (SessionFile & { always: boolean })[] {
  const byName = [...files].sort((a, b) => (a.name < b.name ? 1 : -1)).slice(0, ALWAYS_READ);
  const others = files.filter((file) => !byName.includes(file));
  return [...byName.map((file) => ({ ...file, always: true })), ...others.map((file) => ({ ...file, always: false }))];
}

async function readRemembered(
  file: SessionFile,
  total: { bytes: number },
  maxFileBytes: number,
  memo?: SessionMemo,
): Promise<FileFinding> {
  const known = memo?.get(file.path);
  if (known && known.size === file.size && known.mtimeMs === file.mtimeMs) return known.finding;
  const granted = Math.min(total.bytes, maxFileBytes);
  const allowance = { bytes: granted };
  const finding = await readSessionFile(file, allowance);
  total.bytes -= granted - allowance.bytes;
  if (!finding.unreadable) memo?.set(file.path, { size: file.size, mtimeMs: file.mtimeMs, finding });
  return finding;
}

function forgetOthers(memo: SessionMemo, files: readonly SessionFile[]): void {
  const here = new Set(files.map(({ path }) => path));
  for (const path of memo.keys()) if (!here.has(path)) memo.delete(path);
}

function newer(
  best: Dated<RateLimitEntry> | null,
  entry: RateLimitEntry | null,
  file: SessionFile,
  clock: BoxClock,
): Dated<RateLimitEntry> | null {
  if (!entry) return best;
  const at = writtenAt(entry, file, clock);
  if (best !== null && (at < best.at || (at === best.at && fullest(entry) <= fullest(best.value)))) return best;
  return { at, value: entry };
}

const fullest = ({ slots }: RateLimitEntry): number => Math.max(0, ...slots.map(({ usedPercent }) => usedPercent));

/**
 * A line without a time, or from the future, was written no later than its file was touched. Never later than now: that
 * would settle spending it can't have seen.
 */
function writtenAt({ timestamp }: RateLimitEntry, { mtimeMs }: SessionFile, { now, offsetMs }: BoxClock): number {
  const said = offsetMs + (timestamp !== null && timestamp + offsetMs <= now + SKEW_MS ? timestamp : mtimeMs);
  return Math.floor(Math.min(said, now));
}

function assemble(
  entry: Dated<RateLimitEntry> | null,
  closed: Dated<RateLimitEntry> | null,
  { account, now }: SessionQuery,
): Reading {
  const windows = entry ? windowsAt(rawWindows(entry.value, entry.at), entry.at, now) : [];
  const opens = windows.some(({ resetsAt }) => resetsAt !== null);
  const latest = closed ?? entry;
  return {
    account,
    windows,
    source: 'codex session log',
    // The time of the numbers: a later flag without numbers must not make them look younger.
    writtenAt: (entry ?? closed)?.at ?? now,
    readAt: now,
    plan: latest?.value.plan ?? entry?.value.plan ?? null,
    complete: entry !== null,
    reached: reachedOf(entry, closed, opens, now),
    overage: latest?.value.overage ?? entry?.value.overage ?? null,
  };
}

/** A later line without windows outranks the flag that stands beside them. */
function reachedOf(
  entry: Dated<RateLimitEntry> | null,
  closed: Dated<RateLimitEntry> | null,
  opens: boolean,
  now: number,
): Reached | null {
  if (closed) return flagOf(closed.value, opens, now);
  return entry && standingFlag(entry, opens, now);
}

/** A flag beside windows speaks of the fullest of them, and is over when that one has closed since. */
function standingFlag({ at, value }: Dated<RateLimitEntry>, opens: boolean, now: number): Reached | null {
  const raw = rawWindows(value, at);
  const top = Math.max(...raw.map(({ usedPercent }) => usedPercent));
  const open = raw.some((window) => window.usedPercent === top && !isClosed(window, at, now));
  return open ? flagOf(value, opens, now) : null;
}

/**
 * The reset of a person's spending limit is waited for only when no window opens before: a look there costs one canary.
 */
function flagOf({ reached, spendResetsAt }: RateLimitEntry, opens: boolean, now: number): Reached | null {
  if (reached === null) return null;
  return { flag: reached, resetsAt: opens ? null : resetWithin(spendResetsAt, ofKind('monthly').lengthMs, now) };
}

function nothing({ files, unreadable }: FoundSessions, findings: readonly FileFinding[]): Dark {
  const pools = [...new Set(findings.flatMap(({ otherPools }) => otherPools))];
  if (findings.some(({ bounded }) => bounded))
    return dark(
      'read_bound',
      'The newest session files are too large to search to their start, and none of what was read is a reading.',
    );
  if (unreadable.length > 0 || findings.some((finding) => finding.unreadable))
    return dark('unreadable', 'Session files are there but cannot be read by this user.');
  if (pools.length > 0)
    return dark(
      'other_pool_only',
      `Only a model's own limit was written (${pools.join(', ').slice(0, 200)}); it says nothing about the account.`,
    );
  if (files.length === 0) return dark('no_sessions', 'There is no session file yet: nothing has run on this login.');
  return dark(
    'no_reading',
    `None of the ${findings.length} newest session files holds a reading; some codex builds write none.`,
  );
}
