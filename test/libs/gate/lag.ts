import { attemptId } from '#contract';
import { queueName } from '#store';
import { laneOf, testConfig } from '../../support/records.js';
import type { TestRedis } from '../../support/redis.js';
import { sleep } from '../../support/wait-until.js';
import { openDesk } from '../queue/desk.js';
import { bill, LaggingVendor } from './lagging-vendor.js';

export type LagOptions = {
  /** Agents at once. */
  width: number;
  /**
   * As an attempt ends: its points stay until a younger reading. False:
   * its reservation is given back whole, as if nothing had been spent.
   */
  settle: boolean;
  agentMs: number;
  /** The vendor's number is this old when it comes, and comes so often. */
  ageMs: number;
  periodMs: number;
};

export type LagOutcome = { /** Points of the window that are really gone in the end. */ spent: number };

export const LAG = { start: 60, limit: 95, agentMs: 100, ageMs: 75, periodMs: 75 } as const;

/**
 * Agents of one point each, as many as the gate admits, on a window whose meter lags; over when all is told and the
 * gate still refuses. An agent of 100 ms and a meter of 75 ms
 * stand for agents of a minute and a meter that is 45 s old.
 */
export async function lagRun(
  server: TestRedis,
  { width, settle, agentMs, ageMs, periodMs }: LagOptions,
): Promise<LagOutcome> {
  const config = testConfig({ slots: { account: width, node: width, dark: width } });
  const redis = server.client();
  await redis.flushall();
  const desk = openDesk(redis, config);
  const lane = laneOf(config, 'codex');
  const queue = queueName(lane.id, config.nodeId);
  const vendor = new LaggingVendor(redis, ageMs, null, { five_hour: LAG.start, weekly: 10 });
  await vendor.tell(desk.gate);
  let over = false;
  let running = 0;
  let lastEnd = 0;

  const work = async (token: string): Promise<void> => {
    const spent = { five_hour: 1_000, weekly: 200 };
    if (!settle) {
      await sleep(agentMs);
      lastEnd = Date.now();
      await bill(redis, token, lastEnd, spent);
      return desk.gate.giveBack(token, lane.account);
    }
    const record = await desk.submit();
    const answer = await desk.start(record, token);
    if (answer.answer !== 'yes') throw new Error(`it did not start: ${answer.answer}`);
    await sleep(agentMs);
    await desk.deliver(record, { success: true });
    lastEnd = (await desk.read(record.id)).endedAt ?? 0;
    await bill(redis, attemptId(record.id, 1), lastEnd, spent);
  };
  const agent = async (number: number): Promise<void> => {
    for (let turn = 0; !over; turn++) {
      const token = `${number}-${turn}`;
      const { ok } = await desk.gate.reserve(token, lane, queue, config.nodeId);
      if (!ok) {
        await sleep(5);
        continue;
      }
      running += 1;
      await work(token).finally(() => (running -= 1));
    }
  };
  const all = Promise.all(Array.from({ length: width }, (_, number) => agent(number))).finally(() => (over = true));
  while (!over) {
    await sleep(periodMs);
    const written = Date.now() - ageMs;
    await vendor.tell(desk.gate);
    if (running > 0 || written <= lastEnd) continue;
    const look = await desk.gate.look(lane, { five_hour: 1_000 }, 'normal');
    over = !look.ok && look.reason === 'limit' && look.bare;
  }
  await all;
  await desk.close();
  const [window] = await vendor.windows(Date.now() + 1);
  return { spent: window?.usedPercent ?? 0 };
}
