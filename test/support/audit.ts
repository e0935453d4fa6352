import type { Redis } from 'ioredis';
import { STATES, END_STATES } from '#contract';
import { gateKeys, keys, script, evaluateJson } from '#store';

/**
 * Independent auditors: each takes one picture of Redis in one atomic step and works everything out again from the raw
 * records and reservations, sharing no line with the scripts that keep them. An empty answer: all agrees.
 */

type Hash = Record<string, string>;
type Scores = Record<string, number>;

const dump = script(
  'dump',
  `
local a = cjson.decode(ARGV[1])
local function hash(key)
  local flat, out = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do out[flat[i]] = flat[i + 1] end
  return out
end
local function scores(key)
  local flat, out = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES'), {}
  for i = 1, #flat, 2 do out[flat[i]] = tonumber(flat[i + 1]) end
  return out
end
local function members(key)
  local out = {}
  for _, member in ipairs(redis.call('SMEMBERS', key)) do out[member] = 0 end
  return out
end
local t = redis.call('TIME')
local out = { now = t[1] * 1000 + math.floor(t[2] / 1000), hashes = {}, sets = {} }
local names = a.names
for _, pattern in ipairs(a.patterns) do
  for _, name in ipairs(redis.call('KEYS', pattern)) do names[#names + 1] = name end
end
-- The records that the reservations of this hash name.
if a.reservations then
  for _, id in ipairs(redis.call('HKEYS', a.reservations)) do
    local dispatch = string.match(id, '^(.+)%.%d+$')
    if dispatch then names[#names + 1] = a.record .. dispatch end
  end
end
for _, name in ipairs(names) do
  local kind = redis.call('TYPE', name).ok
  if kind == 'hash' then out.hashes[name] = hash(name) end
  if kind == 'zset' then out.sets[name] = scores(name) end
  if kind == 'set' then out.sets[name] = members(name) end
end
return cjson.encode(out)
`,
);

type Dump = { now: number; hashes: Record<string, Hash>; sets: Record<string, Scores> };

async function picture(redis: Redis, names: string[], patterns: string[], reservations?: string): Promise<Dump> {
  return evaluateJson<Dump>(redis, dump, [], { names, patterns, reservations, record: keys.record('') });
}

/**
 * Every index of the records (state sets, due, lines and counts
 * of waiting work, run sets, owed, batches) against the records.
 */
export async function auditIndexes(redis: Redis): Promise<string[]> {
  const seen = await picture(
    redis,
    [],
    [
      `${keys.record('')}*`,
      `${keys.state('')}*`,
      keys.due,
      keys.owed,
      `${keys.running('')}*`,
      `${keys.batch('')}*`,
      `${keys.waiting('')}*`,
      `${keys.line('')}*`,
      keys.ends,
      keys.batches,
      `${keys.census('')}*`,
      `${keys.label('')}*`,
    ],
  );
  const problems: string[] = [];
  const records = Object.entries(seen.hashes).filter(([name]) => name.startsWith(keys.record('')));
  const want = new Map<string, Scores>();
  const counts = new Map<string, Record<string, number>>();
  const put = (name: string, id: string, score: number): void => {
    want.set(name, { ...want.get(name), [id]: score });
  };
  const count = (queue: string, field: string): void => {
    const fields = counts.get(keys.waiting(queue)) ?? {};
    counts.set(keys.waiting(queue), { ...fields, [field]: (fields[field] ?? 0) + 1 });
  };

  const members = new Map<string, Record<string, number>>();
  const countMember = (batch: string, field: string): void => {
    const fields = members.get(keys.census(batch)) ?? {};
    members.set(keys.census(batch), { ...fields, [field]: (fields[field] ?? 0) + 1 });
  };

  for (const [name, record] of records) {
    const get = (field: string): string => record[field] ?? '';
    const id = get('id');
    const state = get('state');
    if (name !== keys.record(id)) problems.push(`${name} calls itself ${id}`);
    if (!(STATES as readonly string[]).includes(state)) problems.push(`${id} is in no state: ${state}`);
    put(keys.state(state), id, Number(get('submittedAt')));
    if (get('batch') !== '') {
      put(keys.batch(get('batch')), id, NaN);
      put(keys.batches, get('batch'), NaN);
      countMember(get('batch'), 'total');
      countMember(get('batch'), `n:${state}`);
      const successor = seen.hashes[keys.record(get('retriedBy'))];
      if (successor?.['batch'] === get('batch')) countMember(get('batch'), `r:${state}`);
    }
    const labels = (JSON.parse(get('request')) as { labels?: Record<string, string> }).labels ?? {};
    for (const [label, value] of Object.entries(labels))
      put(keys.label(`${label}=${value}`), id, Number(get('submittedAt')));
    const ended = (END_STATES as readonly string[]).includes(state);
    if (ended !== (get('endedAt') !== '')) problems.push(`${id} is ${state} and endedAt is "${get('endedAt')}"`);
    if (state === 'running') {
      put(keys.running(get('node')), id, NaN);
      if (get('node') === '' || get('nonce') === '') problems.push(`${id} runs without a node or a nonce`);
      if (get('startedAt') === '') problems.push(`${id} runs and was never started`);
    }
    if (state === 'queued' || state === 'retrying') {
      put(keys.due, id, NaN);
      put(keys.line(get('queue')), id, Number(get('submittedAt')));
      count(get('queue'), `tier:${get('tier')}`);
      if (state === 'queued' && get('notBefore') === '') count(get('queue'), `class:${get('class')}`);
      const bounds = [get('startedAt') === '' ? get('startBy') : '', get('endBy'), get('waitUntil')]
        .filter((at) => at !== '')
        .map(Number);
      if (bounds.length > 0) put(keys.ends, id, NaN);
    }
  }

  const owed = seen.sets[keys.owed] ?? {};
  for (const id of Object.keys(owed)) {
    const state = seen.hashes[keys.record(id)]?.['state'] ?? 'gone';
    if (!(END_STATES as readonly string[]).includes(state))
      problems.push(`a line is owed for ${id}, which is ${state}`);
  }
  const names = new Set([...want.keys(), ...Object.keys(seen.sets)]);
  names.delete(keys.owed);
  for (const name of names) problems.push(...compareSets(name, want.get(name) ?? {}, seen.sets[name] ?? {}));
  const hashes = new Set([
    ...counts.keys(),
    ...Object.keys(seen.hashes).filter((name) => name.startsWith(keys.waiting(''))),
  ]);
  for (const name of hashes) problems.push(...compareCounts(name, counts.get(name) ?? {}, seen.hashes[name] ?? {}));
  for (const name of new Set([
    ...members.keys(),
    ...Object.keys(seen.hashes).filter((known) => known.startsWith(keys.census(''))),
  ])) {
    const { at: _at, ...kept } = seen.hashes[name] ?? {};
    problems.push(...compareCounts(name, members.get(name) ?? {}, kept));
  }
  return problems;
}

type Reservation = {
  lent?: boolean;
  st: string;
  cost: Record<string, number>;
  lane: string;
  node: string;
  at?: number;
};
type Window = { used: number; resetsAt?: number };

export type GateBounds = {
  /** Thousandths of a point that no window may pass; leave it out where a reading may show more than was reserved. */
  limit?: number;
  slots?: number;
  laneSlots?: number;
  /** Also that every bound reservation belongs to a record that says: running, this attempt. */
  records?: boolean;
};

export type GateAudit = {
  problems: string[];
  inFlight: number;
  /** Thousandths, the fullest window. */ effective: number;
  ids: string[];
};

/** One account: sums, slots, leases, the canary and the limit, from its raw reservations. */
export async function auditGate(redis: Redis, account: string, bounds: GateBounds = {}): Promise<GateAudit> {
  const [meter, reservations, leases, sums, closed] = gateKeys(account);
  const seen = await picture(redis, gateKeys(account), [], bounds.records ? reservations : undefined);
  const problems: string[] = [];
  const raw = Object.entries(seen.hashes[reservations] ?? {}).map(
    ([id, text]) => [id, JSON.parse(text) as Reservation] as const,
  );
  const right: Record<string, number> = {};
  const plus = (field: string, by: number): void => {
    right[field] = (right[field] ?? 0) + by;
  };
  let inFlight = 0;
  for (const [id, r] of raw) {
    const flies = r.st === 'token' || r.st === 'bound';
    if (!flies && r.st !== 'settling' && r.st !== 'estimated') problems.push(`${id} is ${r.st}`);
    if (!flies && typeof r.at !== 'number') problems.push(`${id} is ${r.st} since never`);
    if (flies && !r.lent) {
      inFlight += 1;
      plus('inflight', 1);
      plus(`lane:${r.lane}`, 1);
    }
    for (const [window, points] of Object.entries(r.cost)) {
      plus(`w:${window}`, points);
      if (!Number.isInteger(points) || points < 0) problems.push(`${id} costs ${points} of ${window}`);
    }
    const leased = Object.hasOwn(seen.sets[leases] ?? {}, id);
    if (leased !== (r.st !== 'estimated')) problems.push(`${id} is ${r.st} and ${leased ? 'has' : 'has no'} lease`);
    if (bounds.records && r.st === 'bound') problems.push(...withoutRun(id, seen.hashes));
  }
  for (const id of Object.keys(seen.sets[leases] ?? {}))
    if (!raw.some(([known]) => known === id)) problems.push(`${id} has a lease and no reservation`);
  problems.push(...compareCounts(sums, right, seen.hashes[sums] ?? {}));

  const holder = seen.hashes[closed]?.['holder'];
  const canary = raw.find(([id]) => id === holder)?.[1];
  if (holder !== undefined && canary?.st !== 'token' && canary?.st !== 'bound')
    problems.push(`the canary ${holder} is ${canary?.st ?? 'gone'}`);

  if (bounds.slots !== undefined && inFlight > bounds.slots) problems.push(`${inFlight} in flight of ${bounds.slots}`);
  if (bounds.laneSlots !== undefined) {
    for (const [field, value] of Object.entries(right))
      if (field.startsWith('lane:') && value > bounds.laneSlots)
        problems.push(`${field} ${value} of ${bounds.laneSlots}`);
  }
  let effective = 0;
  for (const [id, w] of Object.entries(JSON.parse(seen.hashes[meter]?.['windows'] ?? '{}') as Record<string, Window>)) {
    const used = w.resetsAt !== undefined && w.resetsAt <= seen.now ? 0 : w.used;
    const total = used + (right[`w:${id}`] ?? 0);
    effective = Math.max(effective, total);
    if (bounds.limit !== undefined && total > bounds.limit)
      problems.push(`${id} stands at ${total} of ${bounds.limit}`);
  }
  return { problems, inFlight, effective, ids: raw.map(([id]) => id) };
}

function withoutRun(id: string, hashes: Record<string, Hash>): string[] {
  const dot = id.lastIndexOf('.');
  const record = hashes[keys.record(id.slice(0, dot))];
  const runs = record?.['state'] === 'running' && record['attempt'] === id.slice(dot + 1);
  return runs
    ? []
    : [`${id} is bound and its record says ${record?.['state'] ?? 'gone'}, attempt ${record?.['attempt'] ?? '-'}`];
}

/** NaN in `want`: any score. */
function compareSets(name: string, want: Scores, have: Scores): string[] {
  const missing = Object.keys(want).filter((id) => !Object.hasOwn(have, id));
  const extra = Object.keys(have).filter((id) => !Object.hasOwn(want, id));
  const moved = Object.entries(want).filter(
    ([id, score]) => !Number.isNaN(score) && Object.hasOwn(have, id) && have[id] !== score,
  );
  return [
    ...missing.map((id) => `${name} lacks ${id}`),
    ...extra.map((id) => `${name} still has ${id}`),
    ...moved.map(([id, score]) => `${name} has ${id} at ${have[id] ?? '-'}, not ${score}`),
  ];
}

/** A field at 0 is as good as none. */
function compareCounts(name: string, want: Record<string, number>, have: Hash): string[] {
  const fields = new Set([...Object.keys(want), ...Object.keys(have)]);
  return [...fields].flatMap((field) => {
    const [right, kept] = [want[field] ?? 0, Number(have[field] ?? 0)];
    return right === kept ? [] : [`${name} counts ${kept} for ${field}, not ${right}`];
  });
}
