import { afterEach, expect, test } from 'vitest';
import { openFlow, type FlowBox } from '../flows/flow-box.js';
import { problemsAtRest } from '../flows/oracle.js';
import { oneOf, POINTS, SEED, seeded } from '../support/seeded.js';
import { Audits } from './audits.js';
import { meet, MOMENTS } from './moments.js';
import { calm, strike, VICTIMS, type Scene } from './strikes.js';
import { jitter, Work } from './work.js';

let box: FlowBox;
let audits: Audits;
afterEach(async () => {
  await audits.end();
  await box.close();
});

/** Dispatches that come in with each strike: enough that something is at every point of its way. */
const EACH = 3;

for (const [n, victim] of VICTIMS.entries()) {
  test(
    `${victim}, struck at ${POINTS} moments while work comes in and is cancelled: nothing is lost, nothing starts twice, nothing is left over`,
    async () => {
      const seed = SEED + n;
      const random = seeded(seed);
      const story: string[] = [`CMO_TEST_SEED=${SEED} CMO_CHAOS_POINTS=${POINTS}`];
      box = openFlow({ config: { timing: { tokenLeaseMs: 1_500, refusalMs: [500, 1_000] } } });
      await box.up();
      const redis = box.redis();
      audits = new Audits(box.redis(), ['codex', 'claude'], box.settings().slots.account);
      const scene: Scene = { box, redis, random, work: new Work(box, random) };
      await scene.work.submitEach();
      for (let point = 0; point < POINTS; point += 1) {
        const moment = oneOf(random, MOMENTS);
        const met = await meet(box, redis, moment);
        await jitter(random, moment === 'no moment in particular' ? 700 : 6);
        story.push(`at ${moment}${met ? '' : ' (not met)'}: ${await strike(victim, scene)}`);
        await scene.work.submit(EACH);
        if (random() < 0.7) scene.work.cancelOne();
      }
      console.log(`chaos, ${victim}: ${story.join('; ')}`);
      await calm(scene);
      const rows = await scene.work.ended();
      const ids = rows.map(({ id }) => id);
      await audits.end();
      const problems = [...scene.work.surprises(rows), ...audits.problems, ...(await problemsAtRest(box, ids))];
      for (const { id, state } of rows)
        if (!box.dispatchLines(id).every((line) => line.state === state))
          problems.push(`${id} is ${state} and its line says another end`);
      expect(problems, story.join('\n')).toEqual([]);
      expect(audits.taken).toBeGreaterThan(POINTS);
    },
    60_000 + POINTS * 15_000,
  );
}
