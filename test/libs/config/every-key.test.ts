import { expect, test } from 'vitest';
import { configFrom, configRows, fileShape, pathText, type Loaded } from '#config';

type Schema = {
  type?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | false;
  items?: Schema;
  minimum?: number;
  maximum?: number;
  pattern?: string;
};

const load = (value: unknown): Loaded =>
  configFrom(JSON.stringify(value), {
    file: 'config.json',
    env: {},
    machine: { home: '/home/me', hostname: 'box', cores: 2 },
  });
const told = (value: unknown): { at: string; seen: string; expected: string; nearest: string | null }[] => {
  const loaded = load(value);
  return loaded.ok
    ? []
    : loaded.diagnostics.flatMap(({ problems }) =>
        problems.map(({ path, seen, expected, nearest }) => ({ at: pathText(path), seen, expected, nearest })),
      );
};

/**
 * Every key that the file may hold, from the very shape that reads
 * it; a chosen name stands for every name that may be chosen.
 */
type Key = { path: (string | number)[]; schema: Schema };
const NAMES = new Map([
  ['models', 'codex'],
  ['freshness', 'codex'],
  ['reservation', 'default'],
  ['lanes', 'codex'],
  ['accounts', 'codex'],
  ['env', 'A_NAME'],
]);

function* keys(schema: Schema, path: (string | number)[]): Generator<Key> {
  for (const one of schema.anyOf ?? [schema]) {
    for (const [key, member] of Object.entries(one.properties ?? {})) {
      yield { path: [...path, key], schema: member };
      yield* keys(member, [...path, key]);
    }
    if (one.additionalProperties) {
      const name = NAMES.get(String(path.at(-1))) ?? 'codex';
      yield { path: [...path, name], schema: one.additionalProperties };
      yield* keys(one.additionalProperties, [...path, name]);
    }
    if (one.items) {
      yield { path: [...path, 0], schema: one.items };
      yield* keys(one.items, [...path, 0]);
    }
  }
}
const KEYS = [...keys(fileShape.schema() as Schema, [])];

function at(path: readonly (string | number)[], value: unknown): unknown {
  return path.reduceRight((inner: unknown, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), value);
}

/** Values that the schema of the key excludes: of another type, and just past each bound. */
function* wrongs(schema: Schema): Generator<unknown> {
  const all = schema.anyOf ?? [schema];
  const takes = (type: string): boolean =>
    all.some(
      (one) =>
        one.type === type ||
        (type === 'number' && one.type === 'integer') ||
        (type === 'string' && one.enum !== undefined),
    );
  if (!takes('boolean')) yield true;
  if (!takes('array')) yield [[]];
  if (!takes('number')) yield 12_345;
  if (!takes('string')) yield 'a text';
  if (!all.some(({ type }) => type === 'null')) yield null;
  for (const one of all) {
    if (one.minimum !== undefined) yield one.minimum - 1;
    if (one.maximum !== undefined) yield one.maximum + 1;
    if (one.type === 'integer') yield (one.minimum ?? 0) + 0.5;
    if (one.enum) yield 'nonsense';
    // A variable may be set to nothing.
    if (one.type === 'string' && !('description' in one && one.description === 'a text')) yield '';
  }
}

test('the table holds every key', () => {
  const shown = KEYS.map(({ path }) => pathText(path));
  for (const key of [
    'models.codex.fast.effort',
    'preference.first',
    'pressure.exhausted',
    'freshness.codex',
    'reservation.default',
    'lanes.codex.models.fast',
    'lanes.codex.cost.weekly',
    'holdBack.hours[0].until',
    'notify[0].on[0]',
    'retention.runs.most',
    'fleet.token',
    'timing.refusalMs[0]',
  ])
    expect(shown).toContain(key);
  expect(KEYS.length).toBeGreaterThan(110);
});

test.each(KEYS.map(({ path, schema }) => [pathText(path), path, schema] as const))(
  '%s: every wrong value is told with its place, what was seen and what is allowed',
  (name, path, schema) => {
    const values = [...wrongs(schema)];
    expect(values.length).toBeGreaterThan(1);
    for (const value of values) {
      const problems = told(at(path, value));
      expect(
        problems.map((one) => one.at),
        JSON.stringify(value),
      ).toContain(name);
      for (const { seen, expected } of problems)
        expect([seen.length > 0, expected.length > 3], JSON.stringify(value)).toEqual([true, true]);
    }
  },
);

test.each(
  KEYS.filter(({ schema }) => (schema.anyOf ?? [schema]).some((one) => one.properties)).map(
    ({ path, schema }) => [pathText(path), path, schema] as const,
  ),
)('%s: a key that is not known is told with the nearest', (name, path, schema) => {
  const known = Object.keys((schema.anyOf ?? [schema]).find((one) => one.properties)?.properties ?? {});
  for (const key of known.filter((one) => one.length > 3)) {
    const misspelt = `${key.slice(0, -1)}x`;
    if (known.includes(misspelt)) continue;
    expect(told(at(path, { [misspelt]: 1 }))).toContainEqual({
      at: `${name}.${misspelt}`,
      seen: 'an unknown key',
      expected: `one of ${known.join(', ')}`,
      nearest: expect.any(String) as string,
    });
  }
});

test('words that only the whole file knows are held to it', () => {
  expect(told({ preference: { first: 'codx' } })).toMatchObject([{ at: 'preference.first', nearest: 'codex' }]);
  expect(told({ models: { codx: {} }, freshness: { claud: 1 }, reservation: { defualt: 1 } })).toMatchObject([
    { nearest: 'codex' },
    { nearest: 'claude' },
    { nearest: 'default' },
  ]);
  expect(
    told({ accounts: { codx: {} }, holdBack: { hours: [{ until: '09:00', points: 20, account: 'claud' }] } }),
  ).toMatchObject([
    { at: 'accounts.codx', nearest: 'codex' },
    { at: 'holdBack.hours[0].account', nearest: 'claude' },
  ]);
  expect(
    told({ holdBack: { hours: [{ until: '9:00', points: 20 }, { until: '24:01' }, { until: '23:59' }] } }),
  ).toMatchObject([
    { at: 'holdBack.hours[0].until', expected: 'a time of the day such as "09:00"' },
    { at: 'holdBack.hours[1].until' },
    { at: 'holdBack.hours[1]' },
    { at: 'holdBack.hours[2]' },
  ]);
  expect(told({ holdBack: { hours: [{ until: '09:00' }] } })).toMatchObject([
    { at: 'holdBack.hours[0]', seen: 'hours that keep nothing' },
  ]);
  expect(
    told({ notify: [{}, { webhook: 'https://a.example/x', ntfy: 'https://b.example/y' }, { command: [] }] }),
  ).toMatchObject([{ at: 'notify[0]' }, { at: 'notify[1]', seen: 'several ways at once' }]);
});

test('"keep 20 points for me until 09:00" and the rest of the new keys are data', () => {
  const loaded = load({
    holdBack: {
      points: 2,
      hours: [
        { until: '09:00', points: 20 },
        { from: '22:30', until: '07:00', days: ['sat', 'sun'], account: 'claude', slots: 3 },
      ],
    },
    accounts: { codex: { slots: 3 } },
    roots: ['~/src', '/srv'],
    notify: [{ on: ['batch-ended'], ntfy: 'https://ntfy.example/night' }],
    retention: { runs: { days: 3 }, receipts: { most: 1000 } },
    bounds: { depth: 1 },
  });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.diagnostics));
  expect(loaded.config).toMatchObject({
    holdBack: { slots: 1, points: 2 },
    holdBackHours: [
      { from: 0, until: 540, days: [], account: null, points: 20, slots: 0 },
      { from: 1350, until: 420, days: ['sat', 'sun'], account: 'claude', points: 0, slots: 3 },
    ],
    accounts: [{ id: 'codex', slots: 3 }],
    roots: ['/home/me/src', '/srv'],
    notify: [{ on: ['batch-ended'], webhook: null, ntfy: 'https://ntfy.example/night', command: null }],
    retention: { runs: { days: 3, most: 5000 }, receipts: { days: 400, most: 1000 } },
    bounds: { depth: 1 },
  });
  const rows = configRows(loaded.config).map(({ path }) => path);
  for (const path of [
    'accounts.codex.slots',
    'holdBack.hours',
    'roots',
    'notify',
    'retention.runs.days',
    'bounds.depth',
  ])
    expect(rows).toContain(path);
  for (const { path } of configRows(loaded.config)) expect(loaded.origins.has(path), path).toBe(true);
});
