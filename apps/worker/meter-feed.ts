import { thrownMessage, type LaneConfig, type MeterReading } from '#contract';
import { readRateLimitEvent, verdict, type Probe, type Reading } from '#probes';
import { codexProbe } from './prober/codex-probe.js';
import type { SharedTime } from './prober/shared-time.js';
import type { Resources } from './resources.js';

/**
 * The way of every reading into the gate: of runs, which bring them for nothing (claude's rate_limit_event while it
 * streams, codex's session file when it ends), and of the prober, which asks. All in the time that the boxes share.
 */
export interface MeterFeed {
  /** @param info the event's body, raw; @param seenAt ms by this box */
  claudeEvent(lane: LaneConfig, info: unknown, seenAt: number): Promise<void>;
  /** @param environment the run's own: it says where the session files lie */
  codexRun(lane: LaneConfig, environment: Record<string, string>): Promise<void>;
  /** Reads codex's session files now; also those of sessions that cmo did not start. */
  codexIdle(lane: LaneConfig, whole: boolean): Promise<Probe>;
  take(reading: Reading): Promise<void>;
}

type Parts = Pick<Resources, 'gate' | 'config' | 'log'> & {
  time: SharedTime;
  /** Told of every reading that the gate took. */
  taken?: (reading: MeterReading) => void;
};

export function meterFeed({ gate, config, log, time, taken }: Parts): MeterFeed {
  const codex = codexProbe(config, time);
  const last = new Map<string, string>();
  const take = async (reading: Reading): Promise<void> => {
    const { account, windows, source, writtenAt, readAt, plan, complete, reached, overage } = reading;
    const said = verdict(windows, reached, config.pressure.exhausted);
    const closed = reached && { flag: reached.flag, resetsAt: said.blockedUntil };
    const whole: MeterReading = { account, windows, source, plan, writtenAt, readAt, reached: closed, overage };
    if (!(await gate.read(whole, !complete))) return;
    last.set(account, nameOf(reading));
    taken?.(whole);
  };
  const quietly = async (work: () => Promise<void>): Promise<void> => {
    // A meter that could not be read only ages; the run's own result never waits for it or fails with it.
    await work().catch((error: unknown) => log.warn({ error: thrownMessage(error) }, 'a reading was lost'));
  };
  return {
    claudeEvent: (lane, info, seenAt) =>
      quietly(async () => {
        const { now, offsetMs } = await time();
        const probe = readRateLimitEvent(info, { account: lane.account, seenAt: seenAt + offsetMs, now });
        if (probe.kind === 'dark') return;
        const { overage } = probe.reading;
        // It never names the windows of some models, nor amounts of money: those keep what the usage endpoint said of
        // them.
        await take({ ...probe.reading, complete: false, overage: overage?.enabled === true ? overage : null });
      }),
    codexRun: (lane, environment) =>
      quietly(async () => {
        const probe = await codex(lane, { environment });
        if (probe.kind === 'reading') await take(probe.reading);
      }),
    async codexIdle(lane, whole) {
      const probe = await codex(lane, { whole });
      // An unchanged reading would wake all refused work for nothing. After a loss of Redis it is news again.
      if (probe.kind !== 'reading') return probe;
      const known =
        last.get(lane.account) === nameOf(probe.reading) && (await gate.snapshot(lane.account)).reading !== null;
      if (!known) await take(probe.reading);
      return probe;
    },
    take,
  };
}

/** Names a reading by what the vendor wrote, to the second: the offset between the clocks jitters. */
function nameOf({ source, writtenAt, windows, reached }: Reading): string {
  return JSON.stringify([
    source,
    Math.round(writtenAt / 2000),
    reached?.flag ?? null,
    windows.map(({ id, usedPercent, resetsAt }) => [
      id,
      usedPercent,
      resetsAt === null ? null : Math.round(resetsAt / 60_000),
    ]),
  ]);
}
