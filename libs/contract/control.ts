/**
 * What persons have said about starting work, beside the configuration: kept in Redis, for all boxes, until it is taken
 * back.
 */
export type ControlData = {
  pauses: Pause[];
  drains: Drain[];
  slots: SlotSetting[];
};

/** Nothing is started on the lane (null: on any) until `until`, or until it is taken back. Times in ms. */
export type Pause = { lane: string | null; reason: string; since: number; until: number | null };

/** Nothing is started on this node; what runs there comes to its end. */
export type Drain = { node: string; reason: string; since: number };

/**
 * How many run at once, in place of the configuration's word. `dark`: per account while its meter is dark; its name is
 * empty.
 */
export type SlotKind = 'account' | 'lane' | 'node' | 'dark';
export type SlotSetting = { of: SlotKind; name: string; atOnce: number };
