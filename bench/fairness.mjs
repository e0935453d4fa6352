// One interactive dispatch behind 250 of a batch: `npm run bench -- fairness [DEPTH] [SECONDS]`. The real queue and
// worker, stand-in CLIs that sleep for SECONDS (2), ten at once. Asserted: it starts within one agent's length. The
// same dispatch as one more of the batch stands where it would stand without fair
// tags, behind all that came before; a small second batch is between the two.
import { heading, load, must, row } from './support/bench.mjs';

const depth = Number(process.argv[2] ?? 250);
const seconds = Number(process.argv[3] ?? 2);
const SLOTS = 10;
const { openBox, DEFAULT_CONFIG } = await load(
  'parts',
  "export { openBox } from './test/support/box.ts'; export { DEFAULT_CONFIG } from '#contract';",
);
heading(`fairness, ${depth} dispatches of one batch ahead, agents of ${seconds} s, ${SLOTS} at once`);

const interactive = { class: 'interactive', project: 'person' };
const held = await waits({ slots: 1, points: 1 }, [interactive, interactive, interactive]);
const tags = await waits({ slots: 0, points: 0 }, [interactive, interactive, interactive]);
const other = await waits({ slots: 0, points: 0 }, [
  { class: 'batch', project: 'other', request: { batch: 'second' } },
]);
const last = await waits({ slots: 0, points: 0 }, [{ class: 'batch', project: 'big', request: { batch: 'night' } }]);
const text = ({ times, agent }) =>
  `${times.map((ms) => `${Math.round(ms)} ms`).join(', ')} (an agent: ${Math.round(agent)} ms)`;
const worst = ({ times }) => Math.max(...times);
must('interactive, fair tags and a held-back slot', text(held), worst(held) <= held.agent);
must('interactive, fair tags alone', text(tags), worst(tags) <= tags.agent);
must('the first of another batch', text(other), worst(other) <= other.agent);
row('as one more of the batch: without fair tags', text(last));
row('without / with', `${(worst(last) / worst(tags)).toFixed(0)} x`);
must(
  'without them it waits longer than an agent',
  `${(worst(last) / last.agent).toFixed(1)} agents' lengths`,
  worst(last) > 2 * last.agent,
);
process.exit();

/**
 * How long each of these waits from its submit to its start, ms; submitted one after the other while the batch runs.
 */
async function waits(holdBack, changes) {
  const lanes = DEFAULT_CONFIG.lanes.map((lane) => ({
    ...lane,
    cost: { five_hour: 0.01, weekly: 0.01, monthly: 0.01, other: 0.01 },
  }));
  const box = await openBox({ lanes, holdBack, slots: { account: SLOTS, node: SLOTS, dark: SLOTS } });
  try {
    const prompt = `[[sim:slow seconds=${seconds}]]`;
    const ids = [];
    for (let i = 0; i < depth; i++)
      ids.push(await box.submit(prompt, { class: 'batch', project: 'big', request: { batch: 'night' } }));
    await box.start();
    const running = async () => Number(await box.redis.scard('cmo:run:test-node'));
    while ((await running()) < SLOTS - holdBack.slots) await sleep(20);
    const times = [];
    for (const change of changes) {
      // Neither just after a round of starts nor just before one.
      await sleep(seconds * 700);
      const from = Date.now();
      const id = await box.submit(prompt, change);
      let record = await box.records.read(id);
      while (record.startedAt === null) {
        await sleep(5);
        record = await box.records.read(id);
      }
      times.push(record.startedAt - from);
    }
    const [first] = ids;
    const { startedAt, endedAt } = await box.ended(first);
    return { times, agent: endedAt - startedAt };
  } finally {
    await box.close();
  }
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
