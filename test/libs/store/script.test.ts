import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evaluate, evaluateJson, replies, script } from '#store';
import { operations as gate } from '#gate/lua';
import { operations as queue } from '#queue/lua';
import { startRedis, type TestRedis } from '../../support/redis.js';

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = server.client();
});
afterAll(() => server.close());

describe('a script', () => {
  test('gets the parts that it includes, each where its line stands', () => {
    const made = script('sum', 'local a = 1\n--@include two\nreturn a + two()', {
      two: 'local function two() return 2 end',
      other: 'error()',
    });
    expect(made.text).toBe('local a = 1\nlocal function two() return 2 end\nreturn a + two()');
  });

  test.each(['unknown', 'toString', '__proto__'])(
    'that includes %s, which is no part, is a bug that is found at load',
    (name) => {
      expect(() => script('x', `--@include ${name}`, {})).toThrow(`script x includes unknown part ${name}`);
    },
  );

  test('includes a part exactly as written, whatever it contains', () => {
    expect(script('x', '--@include part', { part: "return '$& $1 $$'" }).text).toBe("return '$& $1 $$'");
  });

  test('is included only by a line of its own', () => {
    expect(script('x', 'return 1 --@include part', {}).text).toBe('return 1 --@include part');
  });

  test.each(Object.entries({ ...gate, ...queue }))(
    '%s is complete, and Redis can read it',
    async (_, { text, sha }) => {
      expect(text).not.toContain('--@include');
      expect(await redis.script('LOAD', text)).toBe(sha);
    },
  );
});

describe('running one', () => {
  const echo = script('echo', "redis.call('SET', KEYS[1], ARGV[1]) return ARGV[1]");

  test('gives it its keys and one JSON value', async () => {
    expect(await evaluateJson(redis, echo, ['k'], { a: [1, 'b', null], b: undefined })).toEqual({ a: [1, 'b', null] });
    expect(await redis.get('k')).toBe('{"a":[1,"b",null]}');
  });

  test('works again on a Redis that has forgotten its text', async () => {
    await redis.script('FLUSH');
    expect(await evaluate(redis, echo, ['k'], 7)).toBe('7');
    await server.restart();
    expect(await evaluate(redis, echo, ['k'], 8)).toBe('8');
  });

  test('throws the error that Redis reports', async () => {
    await expect(
      evaluate(redis, script('wrong', "return redis.call('LPUSH', KEYS[1], 'x')"), ['k'], 0),
    ).rejects.toThrow(/WRONGTYPE/);
  });

  test('whose answer has the wrong shape is a bug', async () => {
    await expect(evaluateJson(redis, script('number', 'return 1'), [], 0)).rejects.toThrow(
      'script number answered number',
    );
  });
});

describe('a pipeline', () => {
  test('answers in order', async () => {
    expect(await replies(redis.pipeline().set('a', '1').get('a').get('none'))).toEqual(['OK', '1', null]);
  });

  test('throws the first error of its commands', async () => {
    await redis.set('text', 'x');
    await expect(replies(redis.pipeline().get('text').lpush('text', 'y').get('text'))).rejects.toThrow(/WRONGTYPE/);
  });
});
