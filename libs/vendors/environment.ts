import type { LaneConfig } from '#contract';
import { isBillingName } from './billing-names.js';

/** Who a person is and where their toolchains lie: an agent must find what its sender finds. Nothing else passes. */
const ALLOWED = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TERM', 'TMPDIR', 'EMAIL', 'SSH_AUTH_SOCK'],
  ...[
    'GIT_AUTHOR_NAME',
    'GIT_AUTHOR_EMAIL',
    'GIT_COMMITTER_NAME',
    'GIT_COMMITTER_EMAIL',
    'GIT_CONFIG_GLOBAL',
    'GIT_SSH_COMMAND',
    'GIT_SSL_CAINFO',
  ],
  ...['VIRTUAL_ENV', 'PYTHONPATH', 'POETRY_HOME', 'PIPX_HOME', 'PIPX_BIN_DIR', 'UV_PYTHON', 'UV_CACHE_DIR', 'RYE_HOME'],
  ...[
    'JAVA_HOME',
    'M2_HOME',
    'MAVEN_HOME',
    'GRADLE_HOME',
    'GRADLE_USER_HOME',
    'SDKMAN_DIR',
    'ANDROID_HOME',
    'ANDROID_SDK_ROOT',
  ],
  ...[
    'GOPATH',
    'GOROOT',
    'GOBIN',
    'GOMODCACHE',
    'GOCACHE',
    'CARGO_HOME',
    'RUSTUP_HOME',
    'RUSTUP_TOOLCHAIN',
    'DOTNET_ROOT',
    'DENO_INSTALL',
    'BUN_INSTALL',
  ],
  ...['NODE_PATH', 'PNPM_HOME', 'VOLTA_HOME', 'FNM_DIR', 'FNM_MULTISHELL_PATH', 'COREPACK_HOME', 'N_PREFIX'],
  ...[
    'GEM_HOME',
    'GEM_PATH',
    'RBENV_ROOT',
    'RBENV_VERSION',
    'ASDF_DIR',
    'ASDF_DATA_DIR',
    'MISE_DATA_DIR',
    'HOMEBREW_PREFIX',
    'NIX_PATH',
    'NIX_PROFILES',
  ],
  // The subscriptions' own logins and homes.
  ...['CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME'],
  // The way out.
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...[
    'NODE_EXTRA_CA_CERTS',
    'SSL_CERT_FILE',
    'SSL_CERT_DIR',
    'REQUESTS_CA_BUNDLE',
    'CURL_CA_BUNDLE',
    'CODEX_CA_CERTIFICATE',
  ],
  // Where a cmo started by an agent finds the daemon that runs it.
  ...['CMO_STATE_DIR', 'CMO_CONFIG_DIR'],
]);
const ALLOWED_PREFIXES = ['XDG_', 'CONDA_', 'PYENV_', 'NVM_'];

/**
 * Ours to set: zone and locale make the vendors' texts readable, the mark is how a tree is found and ended. The retry
 * watchdog makes claude wait out a limit in place of saying it.
 */
const OURS = new Set(['TZ', 'LC_ALL', 'CMO_ATTEMPT', 'CLAUDE_CODE_RETRY_WATCHDOG']);

export type Refused = { name: string; why: string };

export type Captured = { env: Record<string, string>; refused: Refused[] };

/** What a person asks for besides the allow-list: names to take from their shell, values given outright. */
export type EnvExtra = { names: string[]; values: Record<string, string> };

/**
 * The submitter's environment, reduced. `refused` has the names asked for that do not pass, each with the reason; what
 * merely is not on the list is left out without a word.
 */
export function captureEnvironment(source: Record<string, string | undefined>, extra: EnvExtra): Captured {
  const env: Record<string, string> = {};
  const refused: Refused[] = [];
  for (const [name, value] of Object.entries(source)) {
    if (value !== undefined && isAllowed(name) && refusal(name, value) === null) env[name] = value;
  }
  const asked: [string, string | undefined][] = [
    ...extra.names.map((name): [string, string | undefined] => [
      name,
      Object.hasOwn(source, name) ? source[name] : undefined,
    ]),
    ...Object.entries(extra.values),
  ];
  for (const [name, value] of asked) {
    const why = refusal(name, value ?? '') ?? (value === undefined ? 'it is not set here' : null);
    if (why !== null) refused.push({ name, why });
    else if (value !== undefined) env[name] = value;
  }
  return { env, refused };
}

export type ChildInput = {
  /** As captured at submit. */
  submitted: Record<string, string>;
  lane: Pick<LaneConfig, 'env' | 'passEnv'>;
  /** The adapter's variables for this run (`envFor`). */
  adapterEnv: Record<string, string>;
  /** `<dispatch>.<n>`, the value of CMO_ATTEMPT. */
  mark: string;
  /**
   * Names that the request asked for; with it, a name that another lane's passEnv brought along stays out. Absent: all
   * that was submitted passes.
   */
  named?: readonly string[];
  /** `C.UTF-8` where the box has it (`chooseLocale`). */
  locale?: string;
};

/**
 * The whole environment of one child: what was submitted, the adapter's variables, the lane's own, and ours last.
 * Checked once more for names of another billing path: what was submitted came over a socket.
 */
export function childEnvironment({
  submitted,
  lane,
  adapterEnv,
  mark,
  named,
  locale = 'C.UTF-8',
}: ChildInput): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(submitted)) {
    const wanted = named === undefined || isAllowed(name) || named.includes(name) || lane.passEnv.includes(name);
    if (wanted && refusal(name, value) === null) env[name] = value;
  }
  for (const [name, value] of [...Object.entries(adapterEnv), ...Object.entries(lane.env)]) {
    if (isName(name) && !value.includes('\0')) env[name] = value;
  }
  for (const name of OURS) delete env[name];
  return { ...env, TZ: 'UTC', LC_ALL: locale, CMO_ATTEMPT: mark };
}

/** @param available what `locale -a` lists */
export function chooseLocale(available: readonly string[]): string {
  const plain = (name: string): string => name.toLowerCase().replace('-', '');
  const wanted = ['C.UTF-8', 'en_US.UTF-8'];
  return wanted.find((name) => available.some((locale) => plain(locale) === plain(name))) ?? 'C';
}

function isAllowed(name: string): boolean {
  return ALLOWED.has(name) || ALLOWED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

function isName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name !== '__proto__';
}

function refusal(name: string, value: string): string | null {
  if (!isName(name)) return 'it is not the name of a variable';
  if (isBillingName(name))
    return 'it would bill another account or talk to another endpoint; only lanes.<id>.env in the config file may set it';
  if (OURS.has(name)) return 'cmo sets it itself';
  return value.includes('\0') ? 'its value has a NUL' : null;
}
