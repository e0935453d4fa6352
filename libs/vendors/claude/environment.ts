import type { EnvInput } from '../adapter.js';

/**
 * `CLAUDE_CODE_MAX_RETRIES` 1: ten retries wait three minutes for what we move elsewhere at once, and with one a
 * refusal costs two requests at most even when we are slow to end the run. No self-update: it would change the CLI
 * under a night's runs. No other traffic: nothing but the work goes out.
 */
export const CLAUDE_ENV: Record<string, string> = {
  CLAUDE_CODE_MAX_RETRIES: '1',
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
};

/**
 * As root the CLI refuses to skip permissions, and exits before any request. `IS_SANDBOX=1` is its own word for "this
 * is a container, root is meant"; set only where it is needed, because it also makes the CLI look for the internet.
 */
export function claudeEnv({ access, root }: EnvInput): Record<string, string> {
  return access === 'write' && root ? { ...CLAUDE_ENV, IS_SANDBOX: '1' } : { ...CLAUDE_ENV };
}
