// What a waiting dispatch with a prompt of 4 KB takes of Redis' memory: `npm run bench -- memory [COUNT]`. Submitted as
// the api submits, with a shell's environment, once with prose and once with
// characters at random. Budget (issue 5): 8 KB. Then which keys hold how much of it.
import { heading, row } from './support/bench.mjs';
import { config, fill, parts, PROMPTS } from './support/waiting.mjs';

const { openQueue, startRedis } = parts;
const count = Number(process.argv[2] ?? 5_000);
const BUDGET = 8_192;
/** Beyond these the event streams are cut, and cost a further dispatch nothing. */
const BEFORE = 12_000;

heading(`memory of ${count} more, after ${BEFORE}`);
for (const kind of Object.keys(PROMPTS)) await measure(kind);
process.exit();

async function measure(kind) {
  const server = await startRedis({ args: ['--appendonly', 'no'] });
  const redis = server.client();
  const queue = openQueue({ redis, config });
  await fill(queue, BEFORE, PROMPTS[kind]);
  const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  const before = await used();
  await fill(queue, count, PROMPTS[kind]);
  const each = ((await used()) - before) / count;
  row(
    `prompts of ${kind}`,
    `${Math.round(each)} bytes each (budget ${BUDGET}); ${await shares(redis)}`,
    each <= BUDGET,
  );
  await queue.close();
  await server.close();
}

/** Per dispatch, by what the keys are; ids are no part of a key's kind. */
async function shares(redis) {
  const all = BEFORE + count;
  const sizes = {};
  for (const key of await redis.keys('*')) {
    const own = /d-[0-9A-Z]{26}/.test(key);
    const kind = key.replace(/d-[0-9A-Z]{26}(-\d+)?/, 'ID').replace(/batch-\d/, 'NAME');
    // Of a sorted set MEMORY USAGE looks at some members only; all of them are asked for here.
    sizes[kind] ??= { bytes: 0, keys: 0 };
    if (own && sizes[kind].keys >= 500) continue;
    sizes[kind].bytes += Number(await redis.memory('USAGE', key, 'SAMPLES', 0));
    sizes[kind].keys += 1;
    sizes[kind].own = own;
  }
  const rows = Object.entries(sizes).map(([kind, { bytes, keys, own }]) => [kind, own ? bytes / keys : bytes / all]);
  return rows
    .filter(([, bytes]) => bytes >= 20)
    .sort((a, b) => b[1] - a[1])
    .map(([kind, bytes]) => `${kind} ${Math.round(bytes)}`)
    .join(', ');
}
