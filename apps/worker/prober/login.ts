import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config, LaneConfig } from '#contract';

/**
 * A claude login, read and never written: refreshing a rotating token behind the CLI's back would log the machine out.
 * `stamp` identifies one state of the login without revealing anything of it.
 */
export type Login =
  | {
      kind: 'file';
      path: string;
      accessToken: string;
      /** By the clock of this box, ms since the epoch; null: the file does not say. */
      expiresAt: number | null;
      stamp: string;
    }
  /** A token from the environment (`claude setup-token`): nothing about it can be repaired. */
  | { kind: 'token'; accessToken: string; stamp: string }
  /** The file is there and holds no token: it was logged out, or a refresh race has emptied it. */
  | { kind: 'blank'; path: string; stamp: string }
  | { kind: 'none'; why: string };

const LARGEST_BYTES = 1024 * 1024;

type Environment = Readonly<Record<string, string | undefined>>;

/** Null: no place is known, and none is guessed. */
export function loginPath(lane: Pick<LaneConfig, 'env'>, config: Pick<Config, 'claudeCredentials'>): string | null {
  const own =
    lane.env['CLAUDE_CONFIG_DIR'] ?? (lane.env['HOME'] === undefined ? undefined : join(lane.env['HOME'], '.claude'));
  return own === undefined ? config.claudeCredentials : join(own, '.credentials.json');
}

export async function readLogin(
  lane: Pick<LaneConfig, 'env'>,
  config: Pick<Config, 'claudeCredentials'>,
  environment: Environment,
): Promise<Login> {
  const token = lane.env['CLAUDE_CODE_OAUTH_TOKEN'] ?? environment['CLAUDE_CODE_OAUTH_TOKEN'];
  if (token !== undefined && token !== '') return { kind: 'token', accessToken: token, stamp: 'environment' };
  const path = loginPath(lane, config);
  return path === null ? { kind: 'none', why: 'no place of a claude login is configured' } : readLoginFile(path);
}

export async function readLoginFile(path: string): Promise<Exclude<Login, { kind: 'token' }>> {
  try {
    const { size, mtimeMs, ino } = await stat(path);
    const stamp = `${ino}/${size}/${mtimeMs}`;
    if (size > LARGEST_BYTES) return { kind: 'none', why: `${path} is too large for a login` };
    const oauth = oauthOf(await readFile(path, 'utf8'));
    if (oauth === null) return { kind: 'none', why: `${path} holds no claude.ai login` };
    const { accessToken, expiresAt } = oauth;
    if (typeof accessToken !== 'string' || accessToken === '') return { kind: 'blank', path, stamp };
    return {
      kind: 'file',
      path,
      accessToken,
      expiresAt: typeof expiresAt === 'number' && Number.isFinite(expiresAt) ? expiresAt : null,
      stamp,
    };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return { kind: 'none', why: `there is no login file ${path} (one in a keychain cannot be read here)` };
    return { kind: 'none', why: `${path} cannot be read (${code ?? 'unknown'})` };
  }
}

/** Null: another kind of file, or one that is being written right now. */
function oauthOf(text: string): { accessToken?: unknown; expiresAt?: unknown } | null {
  try {
    const whole = JSON.parse(text) as { claudeAiOauth?: unknown } | null;
    const oauth = whole?.claudeAiOauth;
    return typeof oauth === 'object' && oauth !== null ? oauth : null;
  } catch {
    return null;
  }
}
