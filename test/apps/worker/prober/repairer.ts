// One of many processes whose login is about to lapse: has it renewed, and says what came of it.
// Usage: node repairer.mjs LOGIN STAMP LANE.json START
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { LaneConfig } from '#contract';
import { repairTurn } from '#worker/prober/repair-turn';
import { repairLogin } from '#worker/prober/token-repair';

const [login = '', stamp = '', laneFile = '', start = '0'] = process.argv.slice(2);
const lane = JSON.parse(readFileSync(laneFile, 'utf8')) as LaneConfig;

// All at once.
await delay(Math.max(0, Number(start) - Date.now()));
const came = await repairLogin(login, stamp, {
  clock: Date.now,
  turn: () => repairTurn(lane, { PATH: process.env['PATH'], HOME: process.env['HOME'] }, login),
});
process.stdout.write(JSON.stringify(came));
process.exit(0);
