// The flows that kill and stop parts of a box at random moments, at full length: twenty moments for each victim. `npm
// run chaos` draws a seed and prints it; `npm run chaos -- SEED
// [POINTS]` repeats one, as far as processes can be repeated.
import { run, say } from './setup/command.mjs';

const FLOWS = ['test/chaos', 'test/flows/written-once.test.ts'];
const POINTS = 20;

export async function main([seed = String(Date.now() % 1_000_000), points = String(POINTS)]) {
  if (![seed, points].every((word) => /^[0-9]+$/.test(word))) {
    say('usage: npm run chaos -- [SEED [POINTS]]');
    return 2;
  }
  process.env.CMO_TEST_SEED = seed;
  process.env.CMO_CHAOS_POINTS = points;
  say(`seed ${seed}, ${points} moments for each victim; to repeat: npm run chaos -- ${seed} ${points}`);
  const code = await run('node_modules/.bin/vitest', ['run', ...FLOWS, '--retry=0', '--maxWorkers=1']);
  say(`seed ${seed}: ${code === 0 ? 'nothing was lost, nothing ran twice' : 'FAILED'}`);
  return code;
}
