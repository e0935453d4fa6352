import type { LaneConfig } from '#contract';
import { readClaudeUsage, type Dark, type DarkReason, type Reading } from '#probes';
import type { Login } from './login.js';
import type { LoginKeeper } from './login-keeper.js';
import type { SharedTime } from './shared-time.js';
import type { Turns } from './turns.js';
import { askUsage, usageUrlOf } from './usage-endpoint.js';

/** What came of wanting a reading of a claude account now. */
export type Asked =
  | { how: 'read' }
  /** Not asked: another process does or just did, or the vendor wants to be left alone until `til`. */
  | { how: 'asking' | 'resting' | 'backing-off'; til: number }
  /** Can't be asked before the login is renewed. */
  | { how: 'login' }
  | { how: 'dark'; reason: DarkReason; detail: string };

export type ClaudeProbeParts = {
  keeper: LoginKeeper;
  turns: Turns;
  time: SharedTime;
  clock: () => number;
  take: (reading: Reading) => Promise<void>;
  ask?: typeof askUsage;
};

/**
 * Asks the usage endpoint, when it is our turn, and hands the reading on. A failed question leaves the last reading as
 * it is.
 */
export function claudeProbe({
  keeper,
  turns,
  time,
  clock,
  take,
  ask = askUsage,
}: ClaudeProbeParts): (lane: LaneConfig, asked?: boolean) => Promise<Asked> {
  return async (lane, asked = false) => {
    const here = async (reason: DarkReason, detail: string): Promise<Asked> => {
      await turns.note(lane.account, { reason, detail }, 3 * lane.freshnessMs);
      return { how: 'dark', reason, detail };
    };
    const url = usageUrlOf(lane);
    if (!url.ok) return here('other_endpoint', url.why);
    const hold = await keeper.hold(lane, asked);
    const login = await keeper.login(lane);
    if (login.kind === 'none') return here('no_login', login.why);
    if (hold?.shut || login.kind === 'blank')
      return here('repair_failed', hold?.why ?? 'the login file holds no token');
    // While it is being renewed ahead of its end, the token still answers.
    if (hold && login.kind === 'file' && login.expiresAt !== null && login.expiresAt <= clock())
      return { how: 'login' };
    const turn = await turns.take(lane.account, lane.freshnessMs, login.stamp);
    if (!turn.taken) return { how: turn.why, til: turn.til };

    const sent = await time();
    const answer = await ask(url.url, login.accessToken);
    const { now } = await time();
    const probe = readClaudeUsage(answer, { account: lane.account, now });
    if (probe.kind === 'reading') {
      // What ended while the question was under way may not be in the answer.
      await take({ ...probe.reading, writtenAt: sent.now });
      await turn.ok();
      return { how: 'read' };
    }
    await turn.dark(probe, stampOfRefusal(probe, login));
    if (probe.reason === 'auth_expired') keeper.refused(lane, login.stamp);
    return { how: 'dark', reason: probe.reason, detail: probe.detail };
  };
}

/** A refused login: with another one in its place there is no reason to wait. */
function stampOfRefusal({ reason }: Dark, login: Exclude<Login, { kind: 'none' }>): string | null {
  return reason === 'auth_expired' || reason === 'auth_invalid' || reason === 'forbidden' ? login.stamp : null;
}
