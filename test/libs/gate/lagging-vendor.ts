import type { Redis } from 'ioredis';
import type { CostVector, MeterWindow } from '#contract';
import type { Gate } from '#gate';

/** The sorted set of what runs have really spent (JSON { id, bill }), by when they ended. */
const BILLS = 'bills';

export async function bill(redis: Redis, id: string, endedAt: number, spent: CostVector): Promise<void> {
  await redis.zadd(BILLS, endedAt, JSON.stringify({ id, bill: spent }));
}

/**
 * The vendor, who bills each run at its end, and whose number is `lagMs` old when it reaches us.
 * @param windowMs its five-hour window begins anew so often; null: never
 * @param start points that others had used of each window before
 */
export class LaggingVendor {
  readonly #began = Date.now();
  readonly #redis: Redis;
  readonly #lagMs: number;
  readonly #windowMs: number | null;
  readonly #start: { five_hour: number; weekly: number };

  constructor(redis: Redis, lagMs: number, windowMs: number | null, start: { five_hour: number; weekly: number }) {
    this.#redis = redis;
    this.#lagMs = lagMs;
    this.#windowMs = windowMs;
    this.#start = start;
  }

  /** As they really are before that time (ms). */
  async windows(at: number): Promise<MeterWindow[]> {
    const start =
      this.#windowMs === null ? 0 : this.#began + Math.floor((at - this.#began) / this.#windowMs) * this.#windowMs;
    const bills = await this.#redis.zrangebyscore(BILLS, '-inf', `(${at}`, 'WITHSCORES');
    let [five, week] = [this.#start.five_hour * 1000, this.#start.weekly * 1000];
    for (let i = 0; i < bills.length; i += 2) {
      const { bill: spent } = JSON.parse(bills[i] ?? '') as { bill: Record<string, number> };
      if (Number(bills[i + 1]) >= start) five += spent['five_hour'] ?? 0;
      week += spent['weekly'] ?? 0;
    }
    return [
      {
        id: 'five_hour',
        kind: 'five_hour',
        usedPercent: five / 1000,
        resetsAt: this.#windowMs === null ? null : start + this.#windowMs,
        scope: null,
      },
      { id: 'weekly', kind: 'weekly', usedPercent: week / 1000, resetsAt: null, scope: null },
    ];
  }

  /** Tells the gate what it was `lagMs` ago. @returns the fullest window, points */
  async tell(gate: Gate): Promise<number> {
    const at = Date.now() - this.#lagMs;
    const windows = await this.windows(at);
    await gate.read({ account: 'codex', windows, source: 'test', writtenAt: at, readAt: Date.now(), plan: null });
    return Math.max(...windows.map(({ usedPercent }) => usedPercent));
  }
}
