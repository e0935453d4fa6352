import type { Redis } from 'ioredis';
import type { Config, ControlData, Drain, Pause, SlotKind, SlotSetting } from '#contract';
import { keys, redisOffset, replies } from '#store';

/**
 * What persons have said: pauses, drained nodes, and how many run at once. One hash, which reserve.lua reads in the
 * same step in which it admits, so that nothing starts after a pause was acknowledged.
 *
 *   pause:<lane> | pause:*      JSON { reason, since, until? }
 *   drain:<node>                JSON { reason, since }
 *   slots:<kind>:<name>         a number
 */
export interface Controls {
  read(): Promise<ControlData>;
  /** @param lane null: every lane; @param until ms, by this box's clock */
  pause(lane: string | null, reason: string, until: number | null): Promise<void>;
  /** False: it was not paused. */
  resume(lane: string | null): Promise<boolean>;
  drain(node: string, reason: string): Promise<void>;
  undrain(node: string): Promise<boolean>;
  /** Null: the configuration's word counts again. */
  setSlots(of: SlotKind, name: string, atOnce: number | null): Promise<void>;
}

export function openControls(redis: Redis, config: Pick<Config, 'lanes'>): Controls {
  const accounts = [...new Set(config.lanes.map(({ account }) => account))];
  /** Refused work asks again: a pause moves it to other lanes; the end of one, or a higher number, lets it start. */
  const told = async (): Promise<void> => {
    const pipeline = redis.pipeline().publish(keys.channels.control, '');
    for (const account of accounts) pipeline.publish(keys.channels.wake, account);
    await replies(pipeline);
  };
  const put = async (field: string, value: string): Promise<void> => {
    await redis.hset(keys.control, field, value);
    await told();
  };
  const take = async (field: string): Promise<boolean> => {
    const was = await redis.hdel(keys.control, field);
    await told();
    return was === 1;
  };
  const redisNow = async (): Promise<{ now: number; offset: number }> => {
    const offset = await redisOffset(redis, Date.now);
    return { now: Date.now() + offset, offset };
  };

  return {
    async read() {
      const { now } = await redisNow();
      return controlOf(await redis.hgetall(keys.control), now);
    },
    async pause(lane, reason, until) {
      const { now, offset } = await redisNow();
      await put(
        `pause:${lane ?? '*'}`,
        JSON.stringify({ reason, since: now, ...(until !== null && { until: until + offset }) }),
      );
    },
    resume: (lane) => take(`pause:${lane ?? '*'}`),
    async drain(node, reason) {
      const { now } = await redisNow();
      await put(`drain:${node}`, JSON.stringify({ reason, since: now }));
    },
    undrain: (node) => take(`drain:${node}`),
    async setSlots(of, name, atOnce) {
      const field = `slots:${of}:${name}`;
      if (atOnce === null) await take(field);
      else await put(field, String(atOnce));
    },
  };
}

/** The hash as it is read; a pause that is over is none. @param now Redis' time, ms */
export function controlOf(fields: Record<string, string>, now: number): ControlData {
  const pauses: Pause[] = [];
  const drains: Drain[] = [];
  const slots: SlotSetting[] = [];
  for (const [field, value] of Object.entries(fields)) {
    const [what = '', ...rest] = field.split(':');
    const name = rest.join(':');
    if (what === 'slots') slots.push({ of: rest[0] as SlotKind, name: rest.slice(1).join(':'), atOnce: Number(value) });
    else if (what === 'drain') drains.push({ node: name, ...(JSON.parse(value) as Omit<Drain, 'node'>) });
    else if (what === 'pause') {
      const { reason, since, until } = JSON.parse(value) as { reason: string; since: number; until?: number };
      if (until === undefined || until > now)
        pauses.push({ lane: name === '*' ? null : name, reason, since, until: until ?? null });
    }
  }
  return { pauses, drains, slots };
}

/** The pause that keeps a lane shut: of those that do, the one that ends last. */
export function pauseOf({ pauses }: Pick<ControlData, 'pauses'>, lane: string): Pause | null {
  const own = pauses.filter((pause) => pause.lane === null || pause.lane === lane);
  return own.reduce<Pause | null>(
    (last, pause) => (last === null || (pause.until ?? Infinity) > (last.until ?? Infinity) ? pause : last),
    null,
  );
}

/** How many run at once: the number set by hand, else the configured one. */
export function slotsOf({ slots }: Pick<ControlData, 'slots'>, of: SlotKind, name: string, configured: number): number {
  return slots.find((setting) => setting.of === of && setting.name === name)?.atOnce ?? configured;
}
