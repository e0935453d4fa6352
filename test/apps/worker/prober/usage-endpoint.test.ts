import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readClaudeUsage } from '#probes';
import { askUsage, usageUrlOf } from '#worker/prober/usage-endpoint';
import { laneOf, testConfig } from '../../../support/records.js';
import { openDoor, type UsageDoor } from './usage-door.js';

const lane = laneOf(testConfig(), 'claude');
const NOW = Date.now();

describe('the usage of a lane is asked', () => {
  test.each([
    ['of the vendor', {}, 'https://api.anthropic.com/api/oauth/usage'],
    ['where its CLI goes', { env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' } }, 'http://127.0.0.1:9/api/oauth/usage'],
    [
      'where the configuration says',
      { usageUrl: 'http://localhost:9/u', env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' } },
      'http://localhost:9/u',
    ],
    [
      'elsewhere when that is allowed',
      { usageUrl: 'https://gate.example/u', allowEndpoint: true },
      'https://gate.example/u',
    ],
  ])('%s', (_, change, url) => expect(usageUrlOf({ ...lane, ...change })).toEqual({ ok: true, url }));

  test.each([
    ['elsewhere without leave', { usageUrl: 'https://gate.example/u' }],
    ['elsewhere in the clear', { usageUrl: 'http://gate.example/u', allowEndpoint: true }],
    ['by anything but http', { usageUrl: 'file:///etc/passwd', allowEndpoint: true }],
    ['with a key, which has no windows', { env: { ANTHROPIC_API_KEY: 'k' } }],
    ['of what is no address', { env: { ANTHROPIC_BASE_URL: 'nonsense' } }],
  ])('never %s', (_, change) => expect(usageUrlOf({ ...lane, ...change })).toMatchObject({ ok: false }));
});

describe('one question', () => {
  let door: UsageDoor;
  beforeAll(async () => {
    door = await openDoor();
  });
  afterAll(() => door.close());
  const ask = async (token = 'dummy') =>
    readClaudeUsage(await askUsage(`${door.url}/api/oauth/usage`, token, 2_000), { account: 'claude', now: NOW });

  test('is answered with the windows', async () => {
    expect(await ask()).toMatchObject({
      kind: 'reading',
      reading: {
        windows: [
          { id: 'five_hour', usedPercent: 3 },
          { id: 'weekly', usedPercent: 27 },
          { id: 'weekly:sonnet', usedPercent: 1 },
        ],
      },
    });
  });

  test('says what a lapsed token, a refusal and a broken answer are', async () => {
    expect(await ask('expired')).toMatchObject({ kind: 'dark', reason: 'auth_expired' });
    door.answer = { status: 200, body: '<html>' };
    expect(await ask()).toMatchObject({ kind: 'dark', reason: 'bad_body' });
    door.answer = { status: 200, body: `{"five_hour":{"utilization":1}}${' '.repeat(2_000_000)}` };
    expect(await ask()).toMatchObject({ kind: 'reading' });
    door.answer = null;
  });

  test('is over after its time, and when nobody answers', async () => {
    door.before = () => new Promise((resolve) => setTimeout(resolve, 500));
    const answer = await askUsage(`${door.url}/api/oauth/usage`, 'dummy', 50);
    door.before = () => Promise.resolve();
    expect(answer.httpStatus).toBe(0);
    expect((await askUsage('http://127.0.0.1:1/', 'dummy')).httpStatus).toBe(0);
  });

  test('carries the token to no other place', async () => {
    const seen: string[] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers.authorization ?? '');
      response.end('{}');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    door.answer = { status: 302, headers: { location: `http://127.0.0.1:${(other.address() as AddressInfo).port}/` } };
    expect((await askUsage(`${door.url}/api/oauth/usage`, 'dummy')).httpStatus).toBe(0);
    door.answer = null;
    expect(seen).toEqual([]);
    other.close();
  });
});
