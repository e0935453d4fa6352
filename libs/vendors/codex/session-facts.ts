import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, member, parseJson, sessionId, textOf } from '../json.js';

/** What the CLI's own session file says of one turn, beyond its stdout. */
export type SessionFacts = {
  file: string;
  /** `codex_error_info` of the last `task_complete` since the attempt began; null when there is none. */
  error: unknown;
  cliVersion: string | null;
};

/** Session files of tens of GB exist: only both ends are read. */
const TAIL_MAX = 4 * 1024 * 1024;
const HEAD_MAX = 512 * 1024;
const FOLDERS_MAX = 1000;

/**
 * Finds the session file of a thread under `<root>/YYYY/MM/DD` (newest day first; the day is the box's local date, and
 * a resumed thread keeps its old file) and reads the machine-readable kind of its failure.
 * @param root `$CODEX_HOME/sessions` @param since start of the attempt, ms: an older turn's error is not this one's
 * @returns null when there is no such file or it can't be read; never throws
 */
export async function sessionFacts(root: string, thread: string, since: number): Promise<SessionFacts | null> {
  if (sessionId(thread) === null) return null;
  const file = await findFile(root, `-${thread}.jsonl`);
  if (file === null) return null;
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, 'r');
    const { size } = await handle.stat();
    const tail = await readAt(handle, Math.max(0, size - TAIL_MAX), Math.min(size, TAIL_MAX));
    const head = await readAt(handle, 0, Math.min(size, HEAD_MAX));
    return { file, error: lastError(tail, since), cliVersion: versionOf(head) };
  } catch {
    return null;
  } finally {
    await handle?.close();
  }
}

/** Where the session files of a child lie. */
export function sessionsOf(environment: Readonly<Record<string, string>>): string {
  return join(environment['CODEX_HOME'] ?? join(environment['HOME'] ?? '/', '.codex'), 'sessions');
}

export async function hasCodexSession(environment: Readonly<Record<string, string>>, thread: string): Promise<boolean> {
  return sessionId(thread) !== null && (await findFile(sessionsOf(environment), `-${thread}.jsonl`)) !== null;
}

async function findFile(root: string, ending: string): Promise<string | null> {
  let folders = 0;
  for (const year of await newestFirst(root)) {
    for (const month of await newestFirst(join(root, year))) {
      for (const day of await newestFirst(join(root, year, month))) {
        if ((folders += 1) > FOLDERS_MAX) return null;
        const folder = join(root, year, month, day);
        const name = (await names(folder)).find((entry) => entry.startsWith('rollout-') && entry.endsWith(ending));
        if (name !== undefined) return join(folder, name);
      }
    }
  }
  return null;
}

async function newestFirst(folder: string): Promise<string[]> {
  return (await names(folder))
    .filter((name) => /^\d{2,4}$/.test(name))
    .sort()
    .reverse();
}

async function names(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    return [];
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<string> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, position);
  return buffer.subarray(0, bytesRead).toString('utf8');
}

/** Matched on the parsed type: tool output in these files holds every word one could search for. */
function lastError(tail: string, since: number): unknown {
  for (const line of tail.split('\n').reverse()) {
    if (!line.includes('task_complete')) continue;
    const parsed = parseJson(line);
    if (!parsed.ok || !isObject(parsed.value)) continue;
    const payload = parsed.value['payload'];
    if (parsed.value['type'] !== 'event_msg' || member(payload, 'type') !== 'task_complete') continue;
    const written = Date.parse(textOf(parsed.value['timestamp']) ?? '');
    if (!(written >= since)) return null;
    return member(member(payload, 'error'), 'codex_error_info') ?? null;
  }
  return null;
}

function versionOf(head: string): string | null {
  const parsed = parseJson(head.split('\n', 1)[0] ?? '');
  return parsed.ok ? textOf(member(member(parsed.value, 'payload'), 'cli_version')) : null;
}
