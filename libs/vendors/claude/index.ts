import type { VendorAdapter } from '../adapter.js';
import { StreamReader } from '../stream-reader.js';
import { TextReader } from '../text-reader.js';
import { claudeArgv } from './argv.js';
import { ClaudeFold } from './claude-fold.js';
import { CLAUDE_ENV, claudeEnv } from './environment.js';
import { hasClaudeSession } from './session-file.js';

export const claude: VendorAdapter = {
  kind: 'claude',
  argv: claudeArgv,
  env: CLAUDE_ENV,
  envFor: claudeEnv,
  reader: (options) =>
    options?.mode === 'text'
      ? new TextReader('claude', options)
      : new StreamReader('claude', new ClaudeFold(), options),
  hasSession: hasClaudeSession,
};
