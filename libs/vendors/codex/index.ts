import type { VendorAdapter } from '../adapter.js';
import { StreamReader } from '../stream-reader.js';
import { TextReader } from '../text-reader.js';
import { codexArgv } from './argv.js';
import { CodexFold } from './codex-fold.js';
import { CODEX_ENV } from './environment.js';
import { hasCodexSession } from './session-facts.js';

export const codex: VendorAdapter = {
  kind: 'codex',
  argv: codexArgv,
  env: CODEX_ENV,
  envFor: () => ({ ...CODEX_ENV }),
  reader: (options) =>
    options?.mode === 'text' ? new TextReader('codex', options) : new StreamReader('codex', new CodexFold(), options),
  hasSession: hasCodexSession,
};
