import { TIERS, type Config, type LaneConfig, type NotifyTarget } from '#contract';

/** An effective value. `secret` ones may be shown as set or not set, never as they are. */
export type ConfigRow = { path: string; value: unknown; secret?: true };

/** Every effective value under the key that says it in config.json, in the order of the documentation. */
export function configRows(config: Config): ConfigRow[] {
  return [
    ...config.lanes.flatMap(laneRows),
    ...group('preference', config.preference),
    ...group('pressure', config.pressure),
    ...group('slots', config.slots),
    ...config.accounts.map(({ id, slots }) => ({ path: `accounts.${id}.slots`, value: slots })),
    ...group('holdBack', config.holdBack),
    { path: 'holdBack.hours', value: config.holdBackHours },
    { path: 'allowFullAccess', value: config.allowFullAccess },
    { path: 'readCommands', value: config.readCommands },
    { path: 'codexSessionsRoot', value: config.codexSessionsRoot },
    { path: 'claudeCredentials', value: config.claudeCredentials },
    { path: 'redisUrl', value: config.redisUrl, secret: true },
    { path: 'fleet.nodeId', value: config.nodeId },
    { path: 'fleet.url', value: config.fleet.url },
    { path: 'fleet.token', value: config.fleet.token, secret: true },
    { path: 'roots', value: config.roots },
    // An address of a webhook is often a secret of its own.
    { path: 'notify', value: config.notify.map((target) => ({ on: target.on, by: wayOf(target) })) },
    ...group('disk', config.disk),
    ...Object.entries(config.retention).flatMap(([what, keep]) => group(`retention.${what}`, keep)),
    ...group('bounds', config.bounds),
    ...group('timing', config.timing),
  ];
}

function wayOf({ webhook, ntfy, command }: NotifyTarget): string | null {
  if (webhook !== null) return 'webhook';
  return ntfy === null ? (command?.[0] ?? null) : 'ntfy';
}

function laneRows(lane: LaneConfig): ConfigRow[] {
  const at = `lanes.${lane.id}`;
  return [
    { path: `${at}.kind`, value: lane.kind },
    { path: `${at}.vendor`, value: lane.vendor },
    { path: `${at}.account`, value: lane.account },
    { path: `${at}.command`, value: lane.command },
    ...[...TIERS].reverse().flatMap((tier) => [
      { path: `${at}.models.${tier}.model`, value: lane.models[tier].model },
      { path: `${at}.models.${tier}.effort`, value: lane.models[tier].effort ?? null },
    ]),
    { path: `${at}.slots`, value: lane.slots },
    { path: `${at}.env`, value: lane.env, secret: true },
    { path: `${at}.passEnv`, value: lane.passEnv },
    { path: `${at}.allowEndpoint`, value: lane.allowEndpoint },
    { path: `${at}.usageUrl`, value: lane.usageUrl },
    { path: `${at}.freshness`, value: lane.freshnessMs },
    { path: `${at}.silence`, value: lane.silenceMs },
    ...group(`${at}.cost`, lane.cost),
  ];
}

function group(path: string, members: object): ConfigRow[] {
  return Object.entries(members).map(([key, value]) => ({ path: `${path}.${key}`, value: value as unknown }));
}

/** A secret as it may be shown: what is set, not what it is set to. */
export function shownValue({ value, secret }: ConfigRow): unknown {
  if (!secret || value === null) return value;
  return typeof value === 'object' ? Object.fromEntries(Object.keys(value).map((name) => [name, '(set)'])) : '(set)';
}
