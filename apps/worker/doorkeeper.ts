import type { LaneConfig } from '#contract';
import type { Admission } from '#gate';
import type { Doorkeeper } from '#queue';
import type { NodeSlots } from './node-slots.js';
import type { LoginHold } from './prober/login-keeper.js';
import type { Resources } from './resources.js';

/** While a login is held, look this often for new work, ms: a wake announces the end of the hold, but not new work. */
const HELD_LOOK_MS = 1_000;

/**
 * The wake name for a freed place of this node: wakes only work that was refused for lack of one. A lane whose window is
 * full would take the place, be refused by the gate again and wake all others with it: with more lanes than places,
 * lanes that could work starved for minutes.
 */
export const NODE = '@node';

/**
 * Lets the worker of one lane fetch: a place on the node, then a reservation in the gate. The wake's number is read
 * before anything is asked, or a wake between a refusal and the sleep would be missed.
 */
export function laneDoor(
  { gate, wakes, config, clock, node }: Pick<Resources, 'gate' | 'wakes' | 'config' | 'clock' | 'node'>,
  lane: LaneConfig,
  queue: string,
  slots: NodeSlots,
  /** Called with every refusal of the gate: waiting work may have to move or end. */
  refused: (admission: Extract<Admission, { ok: false }>) => void,
  /** Why starts on this box have to wait whatever the gate says: the lane's login is being renewed, or has lapsed. */
  held: () => Promise<LoginHold | null>,
): Doorkeeper {
  const { wakeFallbackMs } = config.timing;
  return {
    async admit(token) {
      const [since, sinceNode] = [wakes.number(lane.account), wakes.number(NODE)];
      const sleepFor = (ms: number) => ({
        ok: false as const,
        sleep: (signal: AbortSignal) => wakes.sleep(lane.account, since, ms, signal),
      });
      const hold = await held();
      if (hold) return sleepFor(Math.min(HELD_LOOK_MS, wakeFallbackMs));
      if (!slots.take()) return { ok: false, sleep: (signal) => wakes.sleep(NODE, sinceNode, wakeFallbackMs, signal) };
      let admission: Admission;
      try {
        admission = await gate.reserve(token, lane, queue, node);
      } catch (error) {
        slots.giveBack();
        throw error;
      }
      if (admission.ok) return { ok: true };
      slots.giveBack();
      refused(admission);
      // At least every fallback: a wake may be lost, and due tickets are promoted only by a fetch.
      const untilThen = admission.til === null ? wakeFallbackMs : Math.max(admission.til - clock(), 1);
      return sleepFor(Math.min(untilThen, wakeFallbackMs));
    },

    async giveBack(token) {
      slots.giveBack();
      await gate.giveBack(token, lane.account);
    },
  };
}
