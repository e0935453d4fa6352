import { isAbsolute, delimiter } from 'node:path';
import { CmoError, errorBody, parseRedisAddress, TIERS, type Config } from '#contract';
import type { Environment } from '#config';

/** What a service of this box is to run: the same on every platform. */
export type Definition = {
  /** Node, its flags, the program, `--state DIR --service`. */
  command: readonly string[];
  /** Of the command: the file that an update replaces. */
  program: string;
  /** All it is given. Submitters bring their own environment for their agents. */
  environment: readonly (readonly [name: string, value: string])[];
  state: string;
  /** Where the first words of a daemon go, those before its log is open. */
  words: string;
};

export type Defined = { definition: Definition; notes: string[] };

/**
 * Where things lie, for a daemon that no shell has started. Not TMPDIR and XDG_RUNTIME_DIR: those of this login may be
 * gone in the next.
 */
const PLACES = ['HOME', 'CODEX_HOME', 'CLAUDE_CONFIG_DIR', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'];
const OURS = [
  'CMO_STATE_DIR',
  'CMO_CONFIG_DIR',
  'CMO_CACHE_DIR',
  'CMO_REDIS_URL',
  'CMO_NODE_ID',
  'CMO_PREFER',
  'CMO_CODEX_SESSIONS',
  'CMO_CLAUDE_CREDENTIALS',
  'CMO_FLEET_URL',
];

/**
 * The environment of the shell that installs it, by name, as far as it says where things lie and what is configured.
 * Unit files can be read by others and land in backups, so nothing secret goes in.
 * @param fileConfig the configuration without the environment's part
 * @throws CmoError when the service would be another than the one this shell has: a Redis with a password in its
 * address
 */
export function define(input: {
  command: readonly string[];
  program: string;
  state: string;
  words: string;
  env: Environment;
  config: Config;
  fileConfig: Config | null;
}): Defined {
  const { command, program, state, words, env, config, fileConfig } = input;
  const notes: string[] = [];
  const names = [
    ...PLACES,
    ...OURS,
    ...config.lanes.flatMap(({ id }) =>
      TIERS.map((tier) => `CMO_${id.toUpperCase().replaceAll('-', '_')}_${tier.toUpperCase()}`),
    ),
  ];
  const given = names.flatMap((name): [string, string][] => (env[name] ? [[name, env[name]]] : []));
  const environment = given.filter(([name, value]) => name !== 'CMO_REDIS_URL' || !holdsSecret(value));
  if (environment.length < given.length && fileConfig?.redisUrl !== config.redisUrl) {
    throw new CmoError(
      errorBody('CMO_E_SERVICE', 'CMO_REDIS_URL holds a password, which is not written into a service', {
        fix: 'put it into the config file as "redisUrl" (mode 600), then try again',
      }),
    );
  }
  if (env['CMO_FLEET_TOKEN'] && fileConfig?.fleet.token !== config.fleet.token)
    notes.push('CMO_FLEET_TOKEN is not written into a service: put it into the config file as "fleet": {"token": …}');
  const path = [...new Set((env['PATH'] ?? '').split(delimiter).filter(isAbsolute))].join(delimiter);
  if (command.some((word) => word.includes('/_npx/')))
    notes.push(
      'this program lies in a cache of npx, which npm may empty: install it (`npm install -g`), then install the service from there',
    );
  const all = [['PATH', path] as [string, string], ...environment];
  for (const [name, value] of [...all, ...command.map((word) => ['a path', word])]) {
    if (/\p{Cc}/u.test(value ?? ''))
      throw new CmoError(
        errorBody('CMO_E_SERVICE', `${name} holds a control character, which no service file can carry`),
      );
  }
  return { definition: { command, program, environment: all, state, words }, notes };
}

function holdsSecret(url: string): boolean {
  const target = parseRedisAddress(url);
  return (
    target === null || target.password !== null || (target.where.kind === 'sentinel' && target.where.password !== null)
  );
}

/** The one line that all of our files have. */
export const MARK =
  'Written by `cmo service install`; `cmo service uninstall` removes it, and what is changed by hand is lost with the next install.';

/** As a person types it. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellQuoted(word))).join(' ');
}

export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** What a file of ours starts. */
export type Named = { node: string; program: string; state: string };

export function namedBy(command: readonly string[]): Named | null {
  const program = command.find((word) => word.endsWith('.mjs'));
  const at = command.indexOf('--state');
  const [node, state] = [command[0], command[at + 1]];
  return program !== undefined && node !== undefined && at > 0 && state !== undefined ? { node, program, state } : null;
}
