import type { Redis } from 'ioredis';
import type { Config, LaneConfig } from '#contract';
import type { CliVersions } from './cli-versions.js';
import type { MeterFeed } from './meter-feed.js';
import type { Meters } from './prober/meters.js';
import type { Gate, Wakes } from '#gate';
import type { Outbox } from '#receipts';
import type { Tickets, Transitions } from '#queue';
import type { Fork, SupervisorKind } from '#runner';
import type { Records } from '#store';
import type { WorkPlaces } from './work-places.js';

/** pino's shape, as much of it as is used. Prompts, environments and results never go in. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Where the files of this node lie, absolute. */
export type Folders = { runs: string; receipts: string; blobs: string };

/** Everything a part of the worker may touch; made once, in worker.ts. */
export type Resources = {
  redis: Redis;
  config: Config;
  gate: Gate;
  wakes: Wakes;
  records: Records;
  transitions: Transitions;
  tickets: Tickets;
  folders: Folders;
  outbox: Outbox;
  meters: MeterFeed;
  /** What attempts cost, and how that is learnt. */
  costs: Pick<Meters, 'costsOf' | 'costShown' | 'ledgers' | 'time'>;
  versions: CliVersions;
  places: WorkPlaces;
  supervisor: SupervisorKind;
  fork: Fork;
  /** The daemon's own: for work that came from another node's shell. */
  environment: Readonly<Record<string, string | undefined>>;
  node: string;
  log: Log;
  clock: () => number;
  random: () => number;
};

export function laneById(config: Config, id: string | null): LaneConfig | undefined {
  return config.lanes.find((lane) => lane.id === id);
}
