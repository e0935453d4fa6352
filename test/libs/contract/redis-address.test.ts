import { expect, test } from 'vitest';
import { parseRedisAddress, shownRedisAddress, type RedisTarget } from '#contract';

const plain = { user: null, password: null, db: 0, tls: null };
const host = (name: string, port = 6379): RedisTarget['where'] => ({ kind: 'host', host: name, port });

test.each<[string, RedisTarget]>([
  ['redis://localhost', { ...plain, where: host('localhost') }],
  ['redis://localhost:6390/', { ...plain, where: host('localhost', 6390) }],
  ['redis://h/7', { ...plain, where: host('h'), db: 7 }],
  ['redis://:secret@h', { ...plain, where: host('h'), password: 'secret' }],
  ['redis://me:a%40b%3Ac%2F@h', { ...plain, where: host('h'), user: 'me', password: 'a@b:c/' }],
  ['redis://me:a:b@h', { ...plain, where: host('h'), user: 'me', password: 'a:b' }],
  ['redis://[::1]:7000', { ...plain, where: host('::1', 7000) }],
  ['rediss://h', { ...plain, where: host('h'), tls: { ca: null, cert: null, key: null, serverName: null } }],
  [
    'rediss://h?ca=/etc/a%20ca.pem&servername=r.example',
    { ...plain, where: host('h'), tls: { ca: '/etc/a ca.pem', cert: null, key: null, serverName: 'r.example' } },
  ],
  [
    'rediss://h?cert=/c.pem&key=/k.pem',
    { ...plain, where: host('h'), tls: { ca: null, cert: '/c.pem', key: '/k.pem', serverName: null } },
  ],
  ['unix:/tmp/r.sock', { ...plain, where: { kind: 'socket', path: '/tmp/r.sock' } }],
  ['unix:///tmp/r.sock?db=2', { ...plain, where: { kind: 'socket', path: '/tmp/r.sock' }, db: 2 }],
  [
    'redis+sentinel://me:pw@a:1,b,[::2]:3/night/4?sentinelUser=s&sentinelPassword=t%26',
    {
      ...plain,
      user: 'me',
      password: 'pw',
      db: 4,
      where: {
        kind: 'sentinel',
        sentinels: [
          { host: 'a', port: 1 },
          { host: 'b', port: 26379 },
          { host: '::2', port: 3 },
        ],
        master: 'night',
        user: 's',
        password: 't&',
      },
    },
  ],
  [
    'rediss+sentinel://a/m?ca=/c',
    {
      ...plain,
      where: { kind: 'sentinel', sentinels: [{ host: 'a', port: 26379 }], master: 'm', user: null, password: null },
      tls: { ca: '/c', cert: null, key: null, serverName: null },
    },
  ],
])('%s is understood', (text, target) => {
  expect(parseRedisAddress(text)).toEqual(target);
});

test.each([
  '',
  'redis',
  'redis:h',
  'http://h',
  'redis://',
  'redis://h:0',
  'redis://h:99999',
  'redis://h:a',
  'redis://a,b',
  'redis://h/x',
  'redis://h/1/2',
  'redis://a@b@c',
  'redis://me:%ZZ@h',
  'redis://h?ca=/c',
  'rediss://h?ca=relative.pem',
  'rediss://h?cert=/c.pem',
  'rediss://h?tls=no',
  'rediss://h?ca=/a&ca=/b',
  'rediss://h?ca=',
  'unix:relative',
  'unix:',
  'unix:/r?ca=/c',
  'redis+sentinel://a,b',
  'redis+sentinel://a,/m',
  'redis+sentinel://a/a master',
  'redis://h h',
])('%j is not half understood', (text) => {
  expect(parseRedisAddress(text)).toBeNull();
});

test.each([
  ['redis://me:canary@h/3', 'redis://h:6379/3'],
  ['rediss://:canary@[::1]:5?ca=/canary', 'rediss://[::1]:5'],
  ['redis+sentinel://me:canary@a,b:2/m?sentinelPassword=canary', 'redis+sentinel://a:26379,b:2/m'],
  ['unix:/r.sock?db=1', 'unix:/r.sock?db=1'],
  ['redis://canary', 'redis://canary:6379'],
  ['redis://canary@canary@h', 'an unreadable address'],
])('%s is shown as %s', (text, shown) => {
  expect(shownRedisAddress(text)).toBe(shown);
});
