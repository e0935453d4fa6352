// What is really spent of a window while its meter lags: `npm run bench -- lag [RUNS]`. Agents of one point and 100 ms,
// a meter that is 75 ms old and comes every 75 ms, start at 60, limit 95, 16 and 40 agents at once, ten runs each on
// the real gate. Asserted: the true spend lies in [93, 95] in every run. The same with reservations
// that are given back whole at the end, without settling, must overshoot: the check can fail.
import { heading, load, median, must } from './support/bench.mjs';

const runs = Number(process.argv[2] ?? 10);
const { LAG, lagRun, startRedis } = await load(
  'parts',
  "export { LAG, lagRun } from './test/libs/gate/lag.ts'; export { startRedis } from './test/support/redis.ts';",
);
const server = await startRedis();
heading(`lag, ${runs} runs each`);
for (const settle of [true, false]) {
  for (const width of [16, 40]) {
    const spent = [];
    for (let run = 0; run < runs; run++) spent.push((await lagRun(server, { ...LAG, width, settle })).spent);
    const within = spent.filter((points) => points >= 93 && points <= LAG.limit).length;
    const beyond = spent.filter((points) => points > LAG.limit).length;
    const figures = `${Math.min(...spent)} - ${Math.max(...spent)}, median ${median(spent)} points`;
    if (settle) must(`${width} at once, settling`, `${figures}; in [93, 95] in ${within} of ${runs}`, within === runs);
    else
      must(`${width} at once, given back at the end`, `${figures}; above 95 in ${beyond} of ${runs}`, beyond === runs);
  }
}
await server.close();
process.exit();
