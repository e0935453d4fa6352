/**
 * Every Redis name, made here and nowhere else. Scripts get the ones they need as `k`, so that no name is spelled in
 * Lua. One Redis primary: a script may touch the record and the gate together, so names carry no hash tags on purpose
 * (see ARCHITECTURE.md, why not Cluster).
 *
 * PREFIX carries the layout's version: a daemon that meets another one refuses instead of guessing.
 */
export const LAYOUT_VERSION = 1;
const PREFIX = 'cmo';

export const keys = {
  version: `${PREFIX}:layout`,
  record: (id: string) => `${PREFIX}:d:${id}`,
  blob: (id: string, kind: BlobKind) => `${PREFIX}:d:${id}:${kind}`,
  /** Sorted set per state: id by when it was submitted, the order of listings. */
  state: (state: string) => `${PREFIX}:s:${state}`,
  /** Sorted set of waiting ids by when the sweeper should look whether their ticket exists. */
  due: `${PREFIX}:due`,
  /** Ended dispatches whose dispatch line is not yet on disk, by when they ended. */
  owed: `${PREFIX}:owed`,
  running: (node: string) => `${PREFIX}:run:${node}`,
  batch: (name: string) => `${PREFIX}:b:${name}`,
  /**
   * Hash per batch: how many of it are in each state, kept by the scripts that move them; it outlives forgotten
   * members.
   */
  census: (name: string) => `${PREFIX}:bn:${name}`,
  /** Sorted set of batch names by when something was submitted to them last. */
  batches: `${PREFIX}:batches`,
  /** Sorted set per label (`name=text`): ids by when they were submitted. */
  label: (label: string) => `${PREFIX}:l:${label}`,
  /** Hash per `--once` key: the dispatch that it belongs to, and the digest of its task. */
  once: (key: string) => `${PREFIX}:once:${key}`,
  /** Sorted set of waiting ids by when their waiting may have to end (--ttl, --deadline, --max-wait). */
  ends: `${PREFIX}:ends`,
  /** Hash per queue: how many wait, per tier and class. */
  waiting: (queue: string) => `${PREFIX}:waiting:${queue}`,
  /** Sorted set per queue: waiting ids by when they were submitted, so that waiting work can be moved in order. */
  line: (queue: string) => `${PREFIX}:line:${queue}`,
  fair: `${PREFIX}:fair`,
  node: (id: string) => `${PREFIX}:node:${id}`,
  gate: (account: string) => ({
    meter: `${PREFIX}:q:${account}:meter`,
    reservations: `${PREFIX}:q:${account}:res`,
    leases: `${PREFIX}:q:${account}:lease`,
    sums: `${PREFIX}:q:${account}:sum`,
    closed: `${PREFIX}:q:${account}:closed`,
    flags: `${PREFIX}:q:${account}:flags`,
  }),
  /** Hash per account: whether its meter's source may be asked, and why it last gave no number. */
  probe: (account: string) => `${PREFIX}:q:${account}:probe`,
  /** Per account: the ledger of the runs whose cost is being measured, the index of its samples, and a list of them. */
  costs: (account: string) => ({
    ledger: `${PREFIX}:q:${account}:cost`,
    index: `${PREFIX}:q:${account}:costs`,
    samples: (lane: string, tier: string, window: string) => `${PREFIX}:q:${account}:cost:${lane}/${tier}/${window}`,
  }),
  /** Hash: what persons have said about starting work (libs/gate/control.ts). */
  control: `${PREFIX}:control`,
  /** There once was work for any node: its queues are served since then. */
  anyUsed: `${PREFIX}:any`,
  /** Sorted set of nodes by when their workers were heard of last. */
  nodes: `${PREFIX}:nodes`,
  events: `${PREFIX}:events`,
  receipts: `${PREFIX}:receipts`,
  channels: {
    changed: `${PREFIX}:changed`,
    cancel: `${PREFIX}:cancel`,
    wake: `${PREFIX}:wake`,
    control: `${PREFIX}:controls`,
    progress: `${PREFIX}:progress`,
  },
  /** BullMQ's own prefix. */
  bull: `${PREFIX}:bull`,
} as const;

export type BlobKind = 'prompt' | 'schema' | 'env' | 'result' | 'partial';
export const BLOB_KINDS: readonly BlobKind[] = ['prompt', 'schema', 'env', 'result', 'partial'];

/** The home of a dispatch that any box may run. No node may be called so. */
export const ANY_NODE = 'any';

/** The queue of a lane on a node. BullMQ queue names may not hold a colon. */
export function queueName(lane: string, node: string): string {
  return `${lane}@${node}`.replaceAll(':', '_');
}

/** The gate's six keys in the order every gate script takes them. */
export function gateKeys(account: string): [string, string, string, string, string, string] {
  const gate = keys.gate(account);
  return [gate.meter, gate.reservations, gate.leases, gate.sums, gate.closed, gate.flags];
}

/** Names and name beginnings that scripts join with values of the record they hold. */
export const scriptKeys = {
  record: keys.record(''),
  state: keys.state(''),
  due: keys.due,
  owed: keys.owed,
  running: keys.running(''),
  batch: keys.batch(''),
  census: keys.census(''),
  batches: keys.batches,
  label: keys.label(''),
  once: keys.once(''),
  ends: keys.ends,
  waiting: keys.waiting(''),
  line: keys.line(''),
  fair: keys.fair,
  events: keys.events,
  receipts: keys.receipts,
  changed: keys.channels.changed,
  cancel: keys.channels.cancel,
  wake: keys.channels.wake,
  progress: keys.channels.progress,
} as const;
