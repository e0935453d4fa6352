import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRedis, type TestRedis } from '../../support/redis.js';
import { LAG, lagRun } from './lag.js';

let server: TestRedis;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.close());

/** Ten runs of each are `npm run bench -- lag`. */
test.each([16, 40])(
  '%i agents at once on a meter that lags spend the window to its limit, and no point more',
  async (width) => {
    const { spent } = await lagRun(server, { ...LAG, width, settle: true });
    expect(spent).toBeGreaterThanOrEqual(93);
    expect(spent).toBeLessThanOrEqual(LAG.limit);
  },
);

test.each([16, 40])('without settling %i of them would overspend it', async (width) => {
  const { spent } = await lagRun(server, { ...LAG, width, settle: false });
  expect(spent).toBeGreaterThan(LAG.limit);
});
