import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LaneConfig } from '#contract';
import { isBillingName } from '#vendors/billing-names';
import { childEnvironmentFor } from './child-environment.js';
import { ok, warn, type Check, type Patient, type Row } from './row.js';

/**
 * A CLI reads its own settings files, which the environment's allow-list can't filter. They belong to the user, so they
 * are reported and never changed. Only names are read from them, never a value.
 */
export const SETTINGS_CHECKS: readonly Check[] = [
  {
    group: 'settings',
    look: (patient) =>
      Promise.resolve(
        patient.config.lanes.flatMap((lane) => (lane.kind === 'claude' ? claude(lane, patient) : codex(lane, patient))),
      ),
  },
];

function claude(lane: LaneConfig, { context }: Patient): Row[] {
  const id = `settings:${lane.id}`;
  const env = childEnvironmentFor(context, lane);
  const folder = env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? '/', '.claude');
  const files = [
    join(folder, 'settings.json'),
    join(folder, 'settings.local.json'),
    '/etc/claude-code/managed-settings.json',
  ];
  const rows = files.flatMap((file) => {
    const text = read(file);
    return text === null ? [] : claudeFile(id, file, text);
  });
  return rows.length > 0 ? rows : [ok(id, 'its settings change neither account nor endpoint')];
}

function claudeFile(id: string, file: string, text: string): Row[] {
  let settings: unknown;
  try {
    settings = JSON.parse(text);
  } catch {
    return [warn(id, `${file} is not JSON`, 'fix it: claude may ignore it, or not start')];
  }
  if (typeof settings !== 'object' || settings === null) return [];
  const { env, apiKeyHelper } = settings as { env?: unknown; apiKeyHelper?: unknown };
  const names = typeof env === 'object' && env !== null ? Object.keys(env).filter(isBillingName) : [];
  const rows: Row[] = [];
  if (apiKeyHelper !== undefined)
    rows.push(
      warn(
        id,
        `${file} sets apiKeyHelper: claude would bill that key, and cmo refuses such a run`,
        'remove it from that file',
      ),
    );
  if (names.length > 0)
    rows.push(
      warn(
        id,
        `${file} sets ${names.join(', ')}: claude would bill another account or talk to another endpoint`,
        'remove it from that file',
      ),
    );
  return rows;
}

/** By line, roughly: enough to tell a person where to look. */
const CODEX_LINES: readonly [RegExp, string][] = [
  [/^\s*model_provider\s*=\s*["'](?!openai["'])/, 'model_provider'],
  [/^\s*(?:openai_base_url|chatgpt_base_url|base_url)\s*=/, 'a base URL'],
  [/^\s*(?:env_key|experimental_bearer_token)\s*=/, 'an API key'],
  [/^\s*(?:preferred_auth_method|forced_login_method)\s*=\s*["']api/, 'a login by API key'],
];

function codex(lane: LaneConfig, { context }: Patient): Row[] {
  const id = `settings:${lane.id}`;
  const env = childEnvironmentFor(context, lane);
  const file = join(env['CODEX_HOME'] ?? join(env['HOME'] ?? '/', '.codex'), 'config.toml');
  const lines = read(file)?.split('\n') ?? [];
  const found = lines.flatMap((line, i) =>
    CODEX_LINES.flatMap(([pattern, what]) => (pattern.test(line) ? [`${what} (line ${i + 1})`] : [])),
  );
  return found.length > 0
    ? [
        warn(
          id,
          `${file} sets ${found.join(', ')}: codex may bill another account or talk to another endpoint`,
          'look at these lines',
        ),
      ]
    : [ok(id, 'its settings change neither account nor endpoint')];
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
