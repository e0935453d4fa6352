import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { repairTurn } from '#worker/prober/repair-turn';
import { presentClis } from '../../scripts/real-clis.mjs';
import { writeLogin } from '../apps/worker/prober/login-file.js';
import { laneOf, testConfig } from '../support/records.js';
import { startSim } from '../support/sim.js';
import { tempFolder } from '../support/temp.js';
import { waitUntil } from '../support/wait-until.js';
import type { LogEntry } from '../vendor-sim/lib/server.mjs';
import { openRealHome, type RealHome, type SimRequest } from './real-home.js';

let home: RealHome;
beforeAll(async () => {
  // Ends are settled by a question; here none is asked for a minute after one.
  home = await openRealHome({ timing: { probeGatherMs: 60_000 } });
  // The one question that is due while runs bring their own readings: what the windows of some models are.
  await home.cmo(['limits', '--refresh']);
  await home.admin('quota', { codex: { charge: 4 }, claude: { charge: 4 } });
});
afterAll(() => home.close());

type Limits = Record<'codex' | 'claude', { source: string; windows: { key: string; reportedPercent: number }[] }>;

async function meter(lane: 'codex' | 'claude'): Promise<{ source: string; fiveHour: number; weekly: number }> {
  const { stdout } = await home.cmo(['limits', '--json']);
  const { source, windows } = (JSON.parse(stdout) as Limits)[lane];
  const of = (key: string): number => windows.find((window) => window.key === key)?.reportedPercent ?? Number.NaN;
  return { source, fiveHour: of('five_hour'), weekly: of('weekly') };
}

/** The paths of everything that came to the simulator as this vendor, whoever sent it, in its order. */
function asked(vendor: string): string[] {
  const folder = join(home.folder, 'requests');
  return readdirSync(folder)
    .sort((a, b) => parseInt(a, 10) - parseInt(b, 10))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as SimRequest)
    .filter((entry) => entry.vendor === vendor || entry.vendor === 'both')
    .map(({ path }) => path);
}

describe('a run of the real CLI', () => {
  test.each([
    ['codex', 'codex session log', /\/responses$/],
    ['claude', 'claude stream', /\/v1\/messages$/],
  ] as const)('of %s moves the meter by what was charged, and nobody asks for it', async (lane, source, model) => {
    // The first tells the meter where the window stands, the second what the first has cost.
    expect((await home.run(['--pin', lane, '--role', 'research'], 'hello [[sim:echo]]')).code).toBe(0);
    const before = await waitUntil(async () => {
      const seen = await meter(lane);
      return Number.isFinite(seen.fiveHour) ? seen : null;
    });
    const calls = asked(lane).length;
    expect((await home.run(['--pin', lane, '--role', 'research'], 'once more [[sim:echo]]')).code).toBe(0);
    const after = await waitUntil(async () => {
      const seen = await meter(lane);
      return seen.fiveHour > before.fiveHour ? seen : null;
    });
    expect(after).toEqual({ source, fiveHour: before.fiveHour + 4, weekly: before.weekly + 4 });
    const since = asked(lane).slice(calls);
    expect(since.filter((path) => model.test(path))).toHaveLength(1);
    expect(since.filter((path) => /usage/.test(path))).toEqual([]);
  });
});

test('the turn that renews a login is one small request of the cheapest model, without tools, and brings a reading', async () => {
  const sim = await startSim();
  const folder = tempFolder('real-repair');
  const login = join(folder, '.credentials.json');
  // Not lapsed: the CLI would ask the vendor's own host for another token.
  writeLogin(login);
  const clis = presentClis();
  const lane = { ...laneOf(testConfig(), 'claude'), command: clis?.claude ?? '', env: { ANTHROPIC_BASE_URL: sim.url } };
  const came = await repairTurn(lane, { PATH: process.env['PATH'], HOME: folder }, login);
  expect(came).toMatchObject({ ran: true, ok: true });
  expect(came.ran && came.events).toHaveLength(1);
  const [request, ...more] = sim.log.entries.filter(
    ({ event, path }) => event === 'request' && path === '/v1/messages',
  ) as (LogEntry & { tools?: number; bytes: number })[];
  expect(more).toEqual([]);
  expect(request?.model).toContain('haiku');
  expect(request?.tools ?? 0).toBe(0);
  expect(request?.bytes).toBeLessThan(8_000);
  await sim.close();
});
