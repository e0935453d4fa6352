import type { AccountMeter, LimitsData, MeterWindowStatus } from '#contract';

export const NOW = Date.parse('2026-11-20T03:15:00Z');
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const iso = (ms: number): string => new Date(NOW + ms).toISOString();

export const window = (
  id: string,
  usedPercent: number,
  resetsIn: number | null,
  more: Partial<MeterWindowStatus> = {},
): MeterWindowStatus => {
  const [kind = '', scope = null] = id.split(':');
  const { reserved = 0, settling = 0, estimated = 0 } = more;
  return {
    id,
    kind: kind as MeterWindowStatus['kind'],
    scope,
    usedPercent,
    reserved,
    settling,
    estimated,
    effective: usedPercent + reserved + settling + estimated,
    resetsAt: resetsIn === null ? null : iso(resetsIn),
    ...more,
  };
};

/** An account of one lane; `age` is how old its reading is, ms. */
export function meter(
  account: 'codex' | 'claude',
  windows: MeterWindowStatus[],
  more: Omit<Partial<AccountMeter>, 'reading'> & {
    age?: number;
    reading?: Partial<NonNullable<AccountMeter['reading']>> | null;
  } = {},
): AccountMeter {
  const { age = 12_000, reading, ...rest } = more;
  const source = account === 'codex' ? 'codex session log' : 'claude usage endpoint';
  return {
    account,
    lanes: [
      {
        id: account,
        vendor: account === 'codex' ? 'openai' : 'anthropic',
        kind: account,
        command: account,
        installed: true,
        endpoint: null,
        hold: null,
      },
    ],
    windows,
    inFlight: 0,
    paused: false,
    closed: null,
    reading:
      reading === null
        ? null
        : { source, writtenAt: iso(-age), readAt: iso(-age), plan: null, reached: null, overage: null, ...reading },
    freshnessMs: account === 'codex' ? 10_000 : 45_000,
    lastRunEndedAt: null,
    dark: null,
    costs: [],
    ...rest,
  };
}
export const data = (...accounts: AccountMeter[]): LimitsData => ({
  node: 'box-1',
  writtenAt: iso(-1_000),
  pressure: { tight: 65, critical: 85, exhausted: 95 },
  accounts,
});
export const good = meter('codex', [window('five_hour', 37, 2 * HOUR), window('weekly', 12, 98 * HOUR)], {
  age: 8_000,
  reading: { plan: 'pro' },
});
