import { existsSync } from 'node:fs';
import type { LaneConfig } from '#contract';
import { endpointOf } from '#vendors/endpoint';
import { redact } from '#vendors/redact';
import { askProgram } from './ask-program.js';
import { childEnvironmentFor } from './child-environment.js';
import { onPath } from './on-path.js';
import { fail, ok, skipped, warn, type Check, type Patient, type Row } from './row.js';

const VERSION_MS = 10_000;
const LOGIN_MS = 15_000;
/** Older ones print their quota event without the windows' numbers. */
const CLAUDE_WITH_WINDOWS = [2, 1, 332] as const;

const INSTALL: Readonly<Record<LaneConfig['kind'], string>> = {
  codex: 'npm install -g @openai/codex, then `codex` once to log in',
  claude: 'npm install -g @anthropic-ai/claude-code@latest, then `claude` once to log in',
};

/** What each lane's program says of itself. */
export const LANE_CHECKS: readonly Check[] = [
  {
    group: 'cli',
    look: async (patient) => (await Promise.all(patient.config.lanes.map((lane) => program(lane, patient)))).flat(),
  },
  {
    group: 'login',
    look: async (patient) => (await Promise.all(patient.config.lanes.map((lane) => login(lane, patient)))).flat(),
  },
  { group: 'endpoint', look: ({ config }) => Promise.resolve(config.lanes.flatMap(endpoint)) },
];

function find(lane: LaneConfig, { context }: Patient): string[] {
  return onPath(lane.command, childEnvironmentFor(context, lane)['PATH']);
}

async function program(lane: LaneConfig, patient: Patient): Promise<Row[]> {
  const id = `cli:${lane.id}`;
  const [path, ...others] = find(lane, patient);
  if (path === undefined) {
    const lonely = !patient.config.lanes.some((other) => find(other, patient).length > 0);
    const seen = `${lane.command} is not on PATH`;
    return [
      lonely
        ? fail(id, `${seen}, nor is any other lane's program`, INSTALL[lane.kind])
        : warn(id, `${seen}: all work goes to the other lanes`, INSTALL[lane.kind]),
    ];
  }
  const env = childEnvironmentFor(patient.context, lane);
  const told = await askProgram(path, ['--version'], env, VERSION_MS);
  if (told.kind === 'silent') return [fail(id, `${path} --version does not answer`, `try \`${path} --version\``)];
  const version = told.kind === 'told' ? /\d+\.\d+\.\d+\S*/.exec(told.out)?.[0] : undefined;
  if (version === undefined || (told.kind === 'told' && told.exit !== 0))
    return [
      fail(
        id,
        `${path} --version fails: ${told.kind === 'told' ? redact(told.err.trim().split('\n')[0] ?? '', env) : told.why}`,
        INSTALL[lane.kind],
      ),
    ];
  const rows = [
    lane.kind === 'claude' && isOlder(version, CLAUDE_WITH_WINDOWS)
      ? warn(
          id,
          `${path} ${version} reports no quota numbers with its answers; ${CLAUDE_WITH_WINDOWS.join('.')} does`,
          'npm install -g @anthropic-ai/claude-code@latest (a bare name on Node 20 installs an old one)',
        )
      : ok(id, `${path} ${version}`),
  ];
  if (others.length > 0)
    rows.push(
      warn(
        id,
        `${lane.command} is on PATH twice: ${[path, ...others].join(', ')}; the first is used`,
        `name one with lanes.${lane.id}.command`,
      ),
    );
  return rows;
}

async function login(lane: LaneConfig, patient: Patient): Promise<Row[]> {
  const id = `login:${lane.id}`;
  const [path] = find(lane, patient);
  if (path === undefined) return [skipped(id, 'its program is not installed')];
  const env = childEnvironmentFor(patient.context, lane);
  if (endpointOf(lane) !== null) return [skipped(id, `lanes.${lane.id}.env points it elsewhere`)];
  const told = await askProgram(path, lane.kind === 'claude' ? ['auth', 'status'] : ['login', 'status'], env, LOGIN_MS);
  if (told.kind !== 'told')
    return [
      warn(
        id,
        `it does not say whether it is logged in${told.kind === 'silent' ? ` within ${LOGIN_MS / 1000} s` : ''}`,
        `try \`${lane.command} ${lane.kind === 'claude' ? 'auth' : 'login'} status\``,
      ),
    ];
  return [lane.kind === 'claude' ? claudeLogin(id, told) : codexLogin(id, told, env)];
}

type Words = { exit: number | null; out: string; err: string };

function claudeLogin(id: string, { exit, out }: Words): Row {
  const status = readObject(out);
  if (exit !== 0 || status?.['loggedIn'] === false)
    return fail(id, 'claude is not logged in', 'run `claude` once and log in');
  const method = typeof status?.['authMethod'] === 'string' ? status['authMethod'] : 'unknown';
  const plan = typeof status?.['subscriptionType'] === 'string' ? `, ${status['subscriptionType']}` : '';
  if (/api|console|key/i.test(method))
    return warn(
      id,
      `claude is logged in by ${method}: it bills an API account, not the subscription`,
      'run `claude`, then /login, and choose the subscription',
    );
  return ok(id, `logged in (${method}${plan})`);
}

function codexLogin(id: string, { exit, out, err }: Words, env: Record<string, string>): Row {
  const home = env['CODEX_HOME'];
  if (home !== undefined && !existsSync(home))
    return fail(
      id,
      `CODEX_HOME names a folder that does not exist: ${home}`,
      `mkdir -p '${home}', or unset CODEX_HOME`,
    );
  if (exit !== 0) return fail(id, 'codex is not logged in', 'run `codex login`');
  const said =
    `${out}\n${err}`
      .split('\n')
      .find((line) => /logged in/i.test(line))
      ?.trim() ?? 'logged in';
  return /api key/i.test(said)
    ? warn(
        id,
        'codex is logged in with an API key: it bills the API account, not the subscription',
        'run `codex logout`, then `codex login` with ChatGPT',
      )
    : ok(id, redact(said, env));
}

function endpoint(lane: LaneConfig): Row[] {
  const found = endpointOf(lane);
  if (found === null) return [];
  const id = `endpoint:${lane.id}`;
  if (found.error !== null)
    return [fail(id, found.error, `remove it from lanes.${lane.id}.env, or set lanes.${lane.id}.allowEndpoint`)];
  return [warn(id, `lanes.${lane.id}.env makes it talk to ${found.host}, not to the subscription`, null)];
}

function isOlder(version: string, than: readonly [number, number, number]): boolean {
  const parts = version.split(/[.+-]/).map((part) => Number.parseInt(part, 10));
  for (const [i, needed] of than.entries()) {
    const part = parts[i] ?? 0;
    if (part !== needed) return part < needed;
  }
  return false;
}

function readObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
