import { unpack } from '#store/blob-text';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Redis } from 'ioredis';
import { call } from '../apps/daemon/home.js';
import { killNow, processesOf } from '../support/processes.js';
import { newId } from '../support/records.js';
import { waitUntil } from '../support/wait-until.js';
import { openFlow, untilThere, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

/** Strings that nobody else has, each for one place where a person's secret may stand. */
const CANARY = {
  prompt: 'canary-prompt-6ae1',
  variable: 'canary-variable-77b0',
  allowed: 'canary-allowed-a2c4',
  login: 'canary-login-19fd',
  proxy: 'canary-proxy-5e08',
  lane: 'canary-lane-c3b9',
  url: 'canary-url-d417',
  settings: 'canary-settings-08ee',
  refused: 'canary-refused-f00d',
} as const;

let box: FlowBox;
beforeEach(() => {
  box = openFlow({
    env: {
      GIT_AUTHOR_NAME: CANARY.allowed,
      CLAUDE_CODE_OAUTH_TOKEN: CANARY.login,
      HTTPS_PROXY: `http://person:${CANARY.proxy}@127.0.0.1:9`,
    },
  });
  writeSettings();
});
afterEach(() => box.close());

type Lane = { env: Record<string, string>; allowEndpoint?: boolean; kind?: string; vendor?: string; command?: string };

function writeSettings(): void {
  const config = JSON.parse(readFileSync(box.configFile, 'utf8')) as {
    lanes: Record<'codex' | 'claude', Lane> & Record<string, Lane>;
  };
  Object.assign(config.lanes.codex.env, {
    SOME_KEY: CANARY.lane,
    OPENAI_BASE_URL: `http://person:${CANARY.url}@127.0.0.1:9/v1?key=${CANARY.url}`,
  });
  Object.assign(config.lanes.claude.env, { ANTHROPIC_CUSTOM_HEADERS: `x-key: ${CANARY.lane}` });
  config.lanes.claude.allowEndpoint = true;
  const shouts = join(box.folder, 'bin', 'shouts');
  writeFileSync(
    shouts,
    '#!/bin/sh\necho "refused: $PERSONS_KEY $SOME_KEY $GIT_AUTHOR_NAME $HTTPS_PROXY $CLAUDE_CODE_OAUTH_TOKEN, asked: $(cat)" >&2\nexit 1\n',
    { mode: 0o755 },
  );
  config.lanes['shouts'] = { kind: 'codex', vendor: 'openai', command: shouts, env: { ...config.lanes.codex.env } };
  writeFileSync(box.configFile, JSON.stringify(config));
  const claude = {
    env: { ANTHROPIC_API_KEY: CANARY.settings, ANTHROPIC_BASE_URL: `http://${CANARY.settings}@127.0.0.1:9` },
    apiKeyHelper: `echo ${CANARY.settings}`,
  };
  for (const [folder, name, text] of [
    ['home/.claude', 'settings.json', JSON.stringify(claude)],
    ['claude-home', 'settings.json', JSON.stringify(claude)],
    ['claude-home', '.credentials.json', JSON.stringify({ claudeAiOauth: { accessToken: CANARY.settings } })],
    ['home/.codex', 'config.toml', `openai_base_url = "http://${CANARY.settings}@127.0.0.1:9"\n`],
    ['codex-home', 'config.toml', `openai_base_url = "http://${CANARY.settings}@127.0.0.1:9"\n`],
    ['codex-home', 'auth.json', JSON.stringify({ OPENAI_API_KEY: CANARY.settings })],
  ] as const) {
    mkdirSync(join(box.folder, folder), { recursive: true });
    writeFileSync(join(box.folder, folder, name), text);
  }
}

/** Answers, refusals and crashes of every kind that has words. @returns the dispatches */
async function everythingThatHappens(): Promise<string[]> {
  const variable = ['--env', `PERSONS_KEY=${CANARY.variable}`];
  const say = (what: string): string => `${CANARY.prompt} ${what}`;
  const ids: string[] = [];
  const go = join(box.folder, 'go');
  for (const kind of ['echo', 'bad-request', 'no-model'])
    ids.push(await box.submit(say(`[[sim:${kind}]]`), ...variable));
  for (const id of ids) await box.wait(id);
  // A CLI that prints what it was given, as some do of a key that is refused.
  const shouts = await box.submit(
    say('[[sim:echo]]'),
    ...variable,
    '--pin',
    'shouts',
    '--read-only',
    '--attempts',
    '1',
  );
  await box.wait(shouts);
  expect(box.linesOf(shouts)[0]).toMatchObject({
    outcome: 'failed',
    words: expect.stringMatching(/\[PERSONS_KEY\] \[SOME_KEY\] .*asked: \[prompt\]/) as string,
  });
  ids.push(shouts);
  // Closes the lane, so what follows is sent to the other.
  ids.push(await box.submit(say('[[sim:auth-expired]]'), ...variable, '--pin', 'codex', '--max-wait', '1'));

  const cancelled = await box.submit(say('[[sim:hang]]'), ...variable, '--pin', 'claude');
  const interrupted = await box.submit(say(untilThere(go)), ...variable, '--pin', 'claude');
  const adopted = await box.submit(say(untilThere(go)), ...variable, '--pin', 'claude');
  await waitUntil(() => [cancelled, interrupted, adopted].every((id) => box.starts()[`${id}.1`] === 1), {
    what: 'three agents to run',
  });
  // What everybody on the box may read: command lines of whatever runs, but for the agents' own children.
  expect(
    processesOf(box.folder).filter(({ command }) => !command.startsWith('sh -c until') && holds(command).length > 0),
  ).toEqual([]);
  await box.cmo(['cancel', cancelled]);
  await killNow(box.runPids(`${interrupted}.1`).supervisor);
  await Promise.all([box.killDaemon(), box.killRedis()]);
  await box.up();
  writeFileSync(go, '');
  for (const id of ids.slice(-1).concat(interrupted, adopted)) await box.wait(id);
  return [...ids, cancelled, interrupted, adopted];
}

function holds(text: string): string[] {
  return Object.entries(CANARY).flatMap(([name, canary]) => (text.includes(canary) ? [name] : []));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

type Found = Record<string, string[]>;

function add(found: Found, place: string, text: string): void {
  const names = holds(text);
  if (names.length > 0) found[place] = [...new Set([...(found[place] ?? []), ...names])].sort();
}

/**
 * Which canaries stand in which folder of the state folder. What a CLI printed is its own, kept as it came; Redis'
 * files are compressed: it is asked itself.
 */
function inFiles(): Found {
  const found: Found = {};
  for (const path of filesBelow(box.stateDir)) {
    const [top = ''] = relative(box.stateDir, path).split('/');
    if (top !== 'redis' && !['out', 'err'].includes(basename(path))) add(found, top, readFileSync(path, 'latin1'));
  }
  return found;
}

async function inRedis(redis: Redis): Promise<Found> {
  const found: Found = {};
  for (const key of await redis.keys('*')) add(found, key.replace(/d-[0-9A-Z]{26}/, 'ID'), await textOf(redis, key));
  return found;
}

async function textOf(redis: Redis, key: string): Promise<string> {
  switch (await redis.type(key)) {
    case 'string': {
      const bytes = (await redis.getBuffer(key)) ?? Buffer.alloc(0);
      // A blob is packed: a canary in it would else be passed over.
      return /^cmo:d:[^:]+:[a-z]+$/.test(key) ? (await unpack(bytes)).text : bytes.toString('utf8');
    }
    case 'hash':
      return JSON.stringify(await redis.hgetall(key));
    case 'list':
      return JSON.stringify(await redis.lrange(key, 0, -1));
    case 'set':
      return JSON.stringify(await redis.smembers(key));
    case 'zset':
      return JSON.stringify(await redis.zrange(key, '-inf', '+inf', 'BYSCORE'));
    case 'stream':
      return JSON.stringify(await redis.xrange(key, '-', '+'));
    default:
      throw new Error(`${key} is of a kind that nobody looks into`);
  }
}

test('no log, receipt or listing contains a word of a prompt, an environment or a setting; prompts are only in run folders and blobs', async () => {
  const ids = await everythingThatHappens();
  const refused = await box.cmo(['run', '--env', `OPENAI_API_KEY=${CANARY.refused}`], { input: CANARY.prompt });
  expect(refused.code).toBe(2);
  // What no client of ours would send is quoted to nobody but its sender.
  for (const junk of [
    { id: newId(), prompt: [CANARY.prompt], cwd: box.work, env: { 'NO NAME': CANARY.variable } },
    CANARY.prompt,
  ]) {
    expect(await call(box.paths.apiSocket, 'POST', '/v1/dispatches', { dispatches: [junk] })).toMatchObject({
      ok: false,
    });
  }

  const told = [refused.stdout + refused.stderr];
  for (const args of [['status'], ['ls'], ['doctor'], ['config', 'show'], ...ids.map((id) => ['show', id])]) {
    for (const form of ['--json', '--human']) {
      const ran = await box.cmo([...args, form]);
      expect(ran.stdout).not.toBe('');
      told.push(ran.stdout + ran.stderr);
    }
  }
  expect(told.filter((text) => holds(text).length > 0)).toEqual([]);

  expect(inFiles()).toEqual({ runs: ['prompt'] });
  expect(await inRedis(box.redis())).toEqual({
    'cmo:d:ID:env': ['allowed', 'login', 'proxy', 'variable'],
    'cmo:d:ID:prompt': ['prompt'],
    'cmo:d:ID:result': ['prompt'],
  });
  expect(await problemsAtRest(box, ids)).toEqual([]);
}, 120_000);
