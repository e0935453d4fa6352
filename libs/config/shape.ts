import { nearest } from '#contract';

/** Keys and list positions from the root of the file, or the one name of a variable. */
export type Path = readonly (string | number)[];

/** One thing that is wrong, with what a person needs to fix it. `line` is null where no file line is known. */
export type Problem = { path: Path; seen: string; expected: string; nearest: string | null; line: number | null };

export type JsonSchema = Record<string, unknown>;

/**
 * What a value must look like. `read` collects every problem instead of stopping at the first, and returns undefined for
 * a value that cannot be used. Hand-written because the messages carry nearest keys and line numbers, and because every
 * start of `cmo` would pay for loading a schema library.
 */
export type Shape<T> = {
  expected: string;
  read(value: unknown, path: Path, problems: Problem[]): T | undefined;
  schema(): JsonSchema;
};

export type Read<S> = S extends Shape<infer T> ? T : never;

/** A value in few words: never an object's contents, and a long string only in part. */
export function seen(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string')
    return `${JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value)} (a string)`;
  return String(value);
}

/** A problem that is not about one value: `what` says in words what was seen. */
export function problem(path: Path, what: string, expected: string, near: string | null = null): Problem {
  return { path, seen: what, expected, nearest: near, line: null };
}

export function wrongValue(path: Path, value: unknown, expected: string, near: string | null = null): Problem {
  return problem(path, seen(value), expected, near);
}

export function leaf<T>(
  expected: string,
  schema: JsonSchema,
  take: (value: unknown) => T | undefined,
  near?: (value: unknown) => string | null,
): Shape<T> {
  return {
    expected,
    read(value, path, problems) {
      const taken = take(value);
      if (taken === undefined) problems.push(wrongValue(path, value, expected, near?.(value) ?? null));
      return taken;
    },
    schema: () => schema,
  };
}

export function number(min: number, max: number): Shape<number> {
  return leaf(`a number ${min}..${max}`, { type: 'number', minimum: min, maximum: max }, (value) =>
    typeof value === 'number' && value >= min && value <= max ? value : undefined,
  );
}

export function whole(min: number, max: number): Shape<number> {
  return leaf(`a whole number ${min}..${max}`, { type: 'integer', minimum: min, maximum: max }, (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max ? (value as number) : undefined,
  );
}

export function flag(): Shape<boolean> {
  return leaf('true or false', { type: 'boolean' }, (value) => (typeof value === 'boolean' ? value : undefined));
}

export function word<const W extends string>(words: readonly W[]): Shape<W> {
  return leaf(
    `one of ${words.join(', ')}`,
    { enum: words },
    (value) => words.find((candidate) => candidate === value),
    (value) => (typeof value === 'string' ? nearest(value, words) : null),
  );
}

export function text(
  expected: string,
  accepts: (value: string) => boolean = (value) => value.trim() !== '',
): Shape<string> {
  return leaf(expected, { type: 'string', description: expected }, (value) =>
    typeof value === 'string' && accepts(value) ? value : undefined,
  );
}

/** A text that no message, log or listing may repeat. */
export function secret(expected: string, accepts: (value: string) => boolean): Shape<string> {
  const inner = text(expected, accepts);
  return {
    ...inner,
    read(value, path, problems) {
      if (typeof value === 'string' && accepts(value)) return value;
      const shown = typeof value === 'string' ? 'a text that is not shown here' : seen(value);
      problems.push(problem(path, shown, expected));
      return undefined;
    },
  };
}

export function orNull<T>(shape: Shape<T>): Shape<T | null> {
  return {
    expected: `${shape.expected}, or null`,
    read: (value, path, problems) => (value === null ? null : shape.read(value, path, problems)),
    schema: () => ({ anyOf: [shape.schema(), { type: 'null' }] }),
  };
}

/** `short` where the value is a string, else `long`. */
export function textOr<A, B>(short: Shape<A>, long: Shape<B>): Shape<A | B> {
  const expected = `${short.expected}, or ${long.expected}`;
  return {
    expected,
    read(value, path, problems) {
      if (typeof value === 'string') return short.read(value, path, problems);
      if (isObject(value)) return long.read(value, path, problems);
      problems.push(wrongValue(path, value, expected));
      return undefined;
    },
    schema: () => ({ anyOf: [short.schema(), long.schema()] }),
  };
}

export function list<T>(item: Shape<T>, max: number): Shape<T[]> {
  return {
    expected: `a list of at most ${max}, each ${item.expected}`,
    read(value, path, problems) {
      if (!Array.isArray(value) || value.length > max) {
        problems.push(wrongValue(path, value, this.expected));
        return undefined;
      }
      const read = value.map((member, i) => item.read(member, [...path, i], problems));
      return read.includes(undefined) ? undefined : (read as T[]);
    },
    schema: () => ({ type: 'array', items: item.schema(), maxItems: max }),
  };
}

type Fields = Record<string, Shape<unknown>>;

/** A closed set of keys, each optional. A key that is not one of them is a problem, with the nearest that is. */
export function object<F extends Fields>(fields: F): Shape<{ [K in keyof F]?: Read<F[K]> }> {
  const known = Object.keys(fields);
  const expected = `an object with ${known.join(', ')}`;
  return {
    expected,
    read(value, path, problems) {
      if (!isObject(value)) {
        problems.push(wrongValue(path, value, expected));
        return undefined;
      }
      const result = Object.create(null) as Record<string, unknown>;
      for (const [key, member] of Object.entries(value)) {
        const shape = Object.hasOwn(fields, key) ? fields[key] : undefined;
        if (!shape) {
          problems.push(problem([...path, key], 'an unknown key', `one of ${known.join(', ')}`, nearest(key, known)));
          continue;
        }
        const read = shape.read(member, [...path, key], problems);
        if (read !== undefined) result[key] = read;
      }
      return result as { [K in keyof F]?: Read<F[K]> };
    },
    schema: () => ({
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(known.map((key) => [key, fields[key]?.schema()])),
    }),
  };
}

/** Keys that the person chooses: kept in a Map, so that no key from outside ever indexes an object. */
export function map<T>(key: Shape<string>, item: Shape<T>): Shape<Map<string, T>> {
  const expected = `an object whose keys are ${key.expected}`;
  return {
    expected,
    read(value, path, problems) {
      if (!isObject(value)) {
        problems.push(wrongValue(path, value, expected));
        return undefined;
      }
      const result = new Map<string, T>();
      for (const [name, member] of Object.entries(value)) {
        const wrong: Problem[] = [];
        const accepted = key.read(name, [...path, name], wrong);
        if (accepted === undefined) {
          const near = wrong[0]?.nearest ?? null;
          problems.push(problem([...path, name], `the key ${JSON.stringify(name)}`, key.expected, near));
          continue;
        }
        const read = item.read(member, [...path, name], problems);
        if (read !== undefined) result.set(accepted, read);
      }
      return result;
    },
    schema: () => ({ type: 'object', additionalProperties: item.schema() }),
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
