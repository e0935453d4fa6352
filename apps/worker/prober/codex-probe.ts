import { dirname, join } from 'node:path';
import type { Config, LaneConfig } from '#contract';
import { readCodexSessions, sessionRoots, type Probe, type SessionMemo } from '#probes';
import type { SharedTime } from './shared-time.js';

/** The newest files are looked at each time, all of them once a minute: a resumed session goes on in an old file. */
const NEWEST = 64;
const ALL_EVERY_MS = 60_000;

/** Where the session files of a lane lie. `environment`: of a run that has just written one. */
export function codexRoots(
  lane: Pick<LaneConfig, 'env'>,
  config: Pick<Config, 'codexSessionsRoot'>,
  environment: Readonly<Record<string, string | undefined>> = {},
): string[] {
  const homeOf = (env: Readonly<Record<string, string | undefined>>): string | undefined =>
    env['CODEX_HOME'] ?? (env['HOME'] === undefined ? undefined : join(env['HOME'], '.codex'));
  // The lane's own word is its account's: another lane of the vendor may have the usual place.
  const own = homeOf(lane.env);
  if (own !== undefined) return sessionRoots(own);
  const configured = config.codexSessionsRoot;
  const ran = homeOf(environment);
  const roots = [
    ...(configured === null ? [] : [configured, join(dirname(configured), 'archived_sessions')]),
    ...(ran === undefined ? [] : sessionRoots(ran)),
  ];
  return [...new Set(roots)];
}

/**
 * Looks into codex's session files; unchanged ones are remembered, so that a look at an idle box only lists and stats.
 */
export function codexProbe(
  config: Pick<Config, 'codexSessionsRoot'>,
  time: SharedTime,
): (
  lane: LaneConfig,
  more?: { environment?: Readonly<Record<string, string | undefined>>; whole?: boolean },
) => Promise<Probe> {
  const memos = new Map<string, { newest: SessionMemo; all: SessionMemo; allAt: number }>();
  return async (lane, { environment, whole = false } = {}) => {
    const { now, offsetMs } = await time();
    // Not all of them: a start waits for the first look.
    const memo = memos.get(lane.account) ?? { newest: new Map(), all: new Map(), allAt: now };
    memos.set(lane.account, memo);
    const all = whole || now - memo.allAt >= ALL_EVERY_MS;
    if (all) memo.allAt = now;
    const roots = codexRoots(lane, config, environment);
    return readCodexSessions({
      roots,
      account: lane.account,
      now,
      offsetMs,
      ...(all ? { memo: memo.all } : { memo: memo.newest, maxFiles: NEWEST }),
    });
  };
}
