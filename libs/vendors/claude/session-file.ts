import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sessionId } from '../json.js';

/**
 * `<config>/projects/<folder as a word>/<session>.jsonl`. How a folder becomes a word differs between versions, so all
 * of them are looked at.
 */
export async function hasClaudeSession(
  environment: Readonly<Record<string, string>>,
  session: string,
): Promise<boolean> {
  if (sessionId(session) === null) return false;
  const projects = join(environment['CLAUDE_CONFIG_DIR'] ?? join(environment['HOME'] ?? '/', '.claude'), 'projects');
  const names = await readdir(projects).catch(() => []);
  return names.some((name) => existsSync(join(projects, name, `${session}.jsonl`)));
}
