import { homedir } from 'node:os';
import { join } from 'node:path';
import type { LaneConfig } from '#contract';
import { readCodexSessions, readRateLimitEvent, sessionRoots, type Probe, type SessionMemo } from '#probes';
import { redisOffset } from '#store';
import type { Resources } from './resources.js';

/**
 * The readings that runs bring for nothing: claude's rate_limit_event while it streams, codex's session file when it ends.
 * A reading carries the vendor's time by this box's clock; the gate compares it with ends by Redis' clock, so it is moved
 * by the difference: five minutes of skew between boxes change nothing.
 */
export interface MeterFeed {
  /** @param info the event's body, raw; @param seenAt ms by this box */
  claudeEvent(lane: LaneConfig, info: unknown, seenAt: number): Promise<void>;
  /** @param environment the run's own: it says where the session files lie */
  codexRun(lane: LaneConfig, environment: Record<string, string>): Promise<void>;
}

export function meterFeed({ redis, gate, config, clock, log }: Pick<Resources, 'redis' | 'gate' | 'config' | 'clock' | 'log'>): MeterFeed {
  const memo: SessionMemo = new Map();
  const take = async (probe: Probe): Promise<void> => {
    if (probe.kind === 'dark') return;
    const offset = await redisOffset(redis, clock);
    const { account, windows, source, writtenAt, readAt, plan, complete } = probe.reading;
    const reading = { account, windows, source, plan, writtenAt: writtenAt + offset, readAt: readAt + offset };
    await gate.read(reading, !complete);
  };
  const quietly = async (work: () => Promise<void>): Promise<void> => {
    // A meter that could not be read only ages; the run's own result never waits for it or fails with it.
    await work().catch((error: unknown) => log.warn({ error: error instanceof Error ? error.message : String(error) }, 'a reading was lost'));
  };
  return {
    claudeEvent: (lane, info, seenAt) => quietly(() => take(readRateLimitEvent(info, { account: lane.account, seenAt, now: clock() }))),
    codexRun: (lane, environment) =>
      quietly(async () => {
        const home = environment['CODEX_HOME'] ?? join(environment['HOME'] ?? homedir(), '.codex');
        const roots = config.codexSessionsRoot === null ? sessionRoots(home) : [config.codexSessionsRoot];
        await take(await readCodexSessions({ roots, account: lane.account, now: clock(), memo }));
      }),
  };
}
