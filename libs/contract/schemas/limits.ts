import * as z from 'zod/mini';
import type { AccountMeter, LimitsData, MetersFile } from '../limits.js';
import type { Overage } from '../meter.js';
import { count, flag, instant, ms, orNull, text, windowKind, type Same } from './words.js';

const percent = z.number();
const points = z.number();

const overageSchema = z.object({
  enabled: flag,
  inUse: orNull(flag),
  unlimited: flag,
  balance: orNull(text),
  usedPercent: orNull(percent),
});
export const overageIsRight: Same<z.infer<typeof overageSchema>, Overage> = true;

const accountSchema = z.object({
  account: text,
  lanes: z.array(
    z.object({
      id: text,
      vendor: text,
      kind: z.enum(['codex', 'claude']),
      command: text,
      installed: flag,
      endpoint: orNull(text),
      hold: orNull(text),
    }),
  ),
  windows: z.array(
    z.object({
      id: text,
      kind: windowKind,
      scope: orNull(text),
      usedPercent: percent,
      reserved: points,
      settling: points,
      estimated: points,
      effective: percent,
      resetsAt: orNull(instant),
    }),
  ),
  inFlight: count,
  paused: flag,
  closed: orNull(z.object({ until: instant, reason: text })),
  reading: orNull(
    z.object({
      source: text,
      writtenAt: instant,
      readAt: instant,
      plan: orNull(text),
      reached: orNull(z.object({ flag: text, resetsAt: orNull(instant) })),
      overage: orNull(overageSchema),
    }),
  ),
  freshnessMs: ms,
  lastRunEndedAt: orNull(instant),
  dark: orNull(z.object({ reason: text, detail: text, since: instant, nextTryAt: orNull(instant) })),
  costs: z.array(z.object({ lane: text, tier: text, window: text, points, measured: count })),
});
export const accountIsRight: Same<z.infer<typeof accountSchema>, AccountMeter> = true;

const limits = {
  node: text,
  writtenAt: instant,
  pressure: z.object({ tight: percent, critical: percent, exhausted: percent }),
  accounts: z.array(accountSchema),
};

/** What is known of every account's windows, with its age. */
export const limitsSchema = z.object(limits);
export const limitsIsRight: Same<z.infer<typeof limitsSchema>, LimitsData> = true;

/** meters.json in the state folder. */
export const metersFileSchema = z.object({ ...limits, schema: z.literal('cmo.meters/1') });
export const metersFileIsRight: Same<z.infer<typeof metersFileSchema>, MetersFile> = true;
