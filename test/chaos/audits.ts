import type { Redis } from 'ioredis';
import { auditGate } from '../support/audit.js';
import { sleep } from '../support/wait-until.js';

/** Pictures of the gate in one atomic step each, taken again and again while a box is struck. */
export class Audits {
  taken = 0;
  readonly problems = new Set<string>();
  private running = true;
  private stop: () => void = () => undefined;
  private readonly ending = new Promise<null>((resolve) => (this.stop = () => resolve(null)));
  private readonly loop: Promise<void>;

  constructor(redis: Redis, accounts: readonly string[], slots: number) {
    this.loop = this.take(redis, accounts, slots);
  }

  private async take(redis: Redis, accounts: readonly string[], slots: number): Promise<void> {
    while (this.running) {
      for (const account of accounts) {
        if (redis.status !== 'ready' || !this.running) continue;
        // Redis may be struck under it: then there is no picture.
        const audit = await Promise.race([
          auditGate(redis, account, { records: true, slots }).catch(() => null),
          this.ending,
        ]);
        if (!audit) continue;
        this.taken += 1;
        for (const problem of audit.problems) this.problems.add(`${account}: ${problem}`);
      }
      await sleep(30);
    }
  }

  async end(): Promise<void> {
    this.running = false;
    this.stop();
    await this.loop;
  }
}
