// Dispatches that wait, made as the api makes them: checked, decided,
// with the environment of a person's shell. For depth and memory.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load, root } from './bench.mjs';

export const parts = await load(
  'waiting',
  `export { Redis } from 'ioredis';
   export { Worker } from 'bullmq';
   export { DEFAULT_CONFIG, dispatchId } from '#contract';
   export { openGate } from '#gate';
   export { gatedBackend, openQueue, openTransitions } from '#queue';
   export { keys, openRecords, queueName } from '#store';
   export { admit } from '#api/admit';
   export { startRedis } from './test/support/redis.ts';`,
);
const { DEFAULT_CONFIG, admit, dispatchId } = parts;
export const config = {
  ...DEFAULT_CONFIG,
  nodeId: 'bench',
  holdBack: { slots: 0, points: 0 },
  slots: { account: 10_000, node: 10_000, dark: 10_000 },
  timing: { ...DEFAULT_CONFIG.timing, restartGraceMs: 0 },
};

/** What a person's shell hands over after the allow-list. */
const env = Object.fromEntries(
  [
    'PATH',
    'HOME',
    'USER',
    'LOGNAME',
    'SHELL',
    'LANG',
    'TERM',
    'TMPDIR',
    'SSH_AUTH_SOCK',
    'NVM_DIR',
    'GOPATH',
    'JAVA_HOME',
    'XDG_RUNTIME_DIR',
    'XDG_DATA_HOME',
  ].map((name) => [name, `/home/somebody/.local/share/${name.toLowerCase()}/bin:/usr/local/bin:/usr/bin:/bin`]),
);
const facts = (now) => ({
  ...{
    now,
    place: 'folder',
    project: 'project',
    installed: { codex: true, claude: true },
    parentDepth: null,
    reviewed: null,
    schema: { problems: [], rulings: {} },
    refusedVariables: [],
    beside: [],
  },
  lanes: {
    codex: {
      available: true,
      installed: true,
      worstPercent: 12,
      nextResetAt: new Date(now + 7_200_000).toISOString(),
      scoped: [],
    },
    claude: {
      available: true,
      installed: true,
      worstPercent: 34,
      nextResetAt: new Date(now + 3_600_000).toISOString(),
      scoped: [{ scope: 'opus', percent: 20, resetsAt: null }],
    },
  },
});

const LENGTH = 4_096;
const prose = ['ARCHITECTURE.md', 'README.md', 'CONTRIBUTING.md']
  .map((name) => readFileSync(join(root, name), 'utf8'))
  .join('\n')
  .replaceAll(/[^\x20-\x7e\n]/g, '-');
export const PROMPTS = {
  /** Prose, each from another place. */
  text: (n) => {
    const at = (n * 997) % Math.max(prose.length - LENGTH, 1);
    return prose.slice(at, at + LENGTH).padEnd(LENGTH, ' and so on');
  },
  /** Printable characters at random: there is no text of 4 KB that packs worse. */
  random: () => String.fromCharCode(...crypto.getRandomValues(new Uint8Array(LENGTH)).map((byte) => 32 + (byte % 95))),
};

let made = 0;
export function fresh(prompt = PROMPTS.text) {
  made += 1;
  const random = Uint8Array.from({ length: 16 }, (_, i) => (made >> (5 * (15 - i))) % 32);
  const request = {
    id: dispatchId(Date.now(), random),
    prompt: prompt(made),
    cwd: '/home/somebody/project',
    env,
    role: 'research',
    batch: `batch-${made % 7}`,
    maxWaitMs: null,
  };
  const admission = admit(request, facts(Date.now()), config);
  if (!admission.ok) throw new Error(JSON.stringify(admission.error));
  return admission.news;
}

export async function fill(queue, count, prompt) {
  for (let left = count; left > 0; left -= 1_000)
    await queue.submit(Array.from({ length: Math.min(left, 1_000) }, () => fresh(prompt)));
}
