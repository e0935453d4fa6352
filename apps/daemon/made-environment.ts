/** Variables of a process, by name. */
type Variables = Readonly<Record<string, string | undefined>>;

/**
 * What a daemon may know of the shell that happened to start it: where things lie and what is configured. Not
 * CMO_ATTEMPT: a daemon started from inside an agent must not be swept with that agent's tree. No keys or tokens: what
 * an agent gets is what its own submitter had (rulings §9).
 */
const NAMES = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'TMPDIR',
  'CODEX_HOME',
  'CLAUDE_CONFIG_DIR',
];
const BEGINNINGS = ['XDG_', 'CMO_'];
const NEVER = ['CMO_ATTEMPT', 'CMO_SUP'];

export function daemonEnvironment(env: Variables): Record<string, string> {
  return pick(
    env,
    (name) =>
      !NEVER.includes(name) && (NAMES.includes(name) || BEGINNINGS.some((beginning) => name.startsWith(beginning))),
  );
}

/**
 * Redis needs a place for temporary files and nothing else; its version of the world has no configuration of ours in
 * it.
 */
export function serverEnvironment(env: Variables): Record<string, string> {
  return pick(env, (name) => ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL'].includes(name));
}

function pick(env: Variables, wanted: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && wanted(entry[0])),
  );
}
