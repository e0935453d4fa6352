/** What `cmo help` and the reference pages both tell. */

export const EXIT_CODES: readonly (readonly [code: string, when: string])[] = [
  ['0', 'succeeded; listings that could answer'],
  [
    '1',
    'failed, timed out, interrupted, cancelled by someone else; doctor with a failed row; a failed selftest; a service that cannot be set up; explain with an unreadable member; replay with a difference',
  ],
  ['2', 'refused before it was recorded: a flag, the configuration, the schema file, the folder, the role'],
  [
    '3',
    'deferred or expired: no window had room in time; a plan that would wait; limits with no usable lane; guard without room',
  ],
  ['4', 'no permitted lane has a CLI and a login'],
  ['5', 'the daemon or its Redis cannot be reached or started'],
  ['6', 'of several, at least one did not succeed'],
  ['7', 'the wait ran out; the dispatch goes on'],
  ['130', 'interrupted with Ctrl-C'],
];

export const ENVIRONMENT: readonly (readonly [variable: string, what: string])[] = [
  ['CMO_STATE_DIR', 'what must outlive a reboot (default $XDG_STATE_HOME/cross-model-orchestrate, ~/.local/state/…)'],
  ['CMO_CONFIG_DIR', 'the folder of config.json (default $XDG_CONFIG_HOME/…, ~/.config/…)'],
  ['CMO_CACHE_DIR', 'what may be deleted (default $XDG_CACHE_HOME/…, ~/.cache/…)'],
  ['CMO_REDIS_URL', 'a Redis of your own instead of the private one'],
  ['CMO_NODE_ID', 'the name of this box (default: its host name)'],
  ['CMO_PREFER', 'the lane that goes first'],
  ['CMO_<LANE>_<TIER>', 'the model of a tier: CMO_CODEX_FAST, CMO_CLAUDE_FRONTIER, …'],
  ['CMO_CODEX_SESSIONS', "codex's session files (default $CODEX_HOME/sessions, ~/.codex/sessions)"],
  ['CMO_CLAUDE_CREDENTIALS', "claude's credentials file (default $CLAUDE_CONFIG_DIR/.credentials.json, ~/.claude/…)"],
  ['CMO_FLEET_URL, CMO_FLEET_TOKEN', 'the coordinator of several boxes'],
  ['NO_COLOR, FORCE_COLOR, CI', 'no colours; colours; no progress line'],
];
