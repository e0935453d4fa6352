import { expect, test } from 'vitest';
import { redact } from '#vendors/redact';

test('a value of the environment in a CLI’s last words is replaced by its name', () => {
  const environment = {
    KEY: 'sk-something-long',
    HTTPS_PROXY: 'http://me:hunter22@proxy:80',
    PATH: '/usr/bin',
    HOME: '/home/me',
    FLAG: '1',
  };
  expect(redact('refused sk-something-long at 1, looked in /usr/bin', environment)).toBe(
    'refused [KEY] at 1, looked in /usr/bin',
  );
  expect(redact('no way through http://me:hunter22@proxy:80', environment)).toBe('no way through [HTTPS_PROXY]');
  expect(redact('proxy said: hunter22 is wrong', environment)).toBe('proxy said: [HTTPS_PROXY] is wrong');
});

test('a value whose end was cut off by the cap is replaced by its name too', () => {
  expect(redact('incorrect key: sk-somethi', { KEY: 'sk-something-long' })).toBe('incorrect key: [KEY]');
});

test('a value whose beginning was cut off by the cap is replaced by its name too', () => {
  expect(redact('mething-long was refused', { KEY: 'sk-something-long' })).toBe('[KEY] was refused');
});

test('a line of the prompt that a CLI prints back is named as such, whole or cut', () => {
  const prompt = 'Fix it.\n  The key of the shop is in config/shop.yaml, use it.\n';
  const long = 'The key of the shop is in config/shop.yaml, use it.';
  expect(redact(`bad input: "Fix it.\\n  ${long}"`, {}, prompt)).toBe('bad input: "Fix it.\\n  [prompt]"');
  expect(redact(`bad input: ${long.slice(0, 30)}`, {}, prompt)).toBe('bad input: [prompt]');
  expect(redact(`${long.slice(-30)}\nunknown option -x`, {}, prompt)).toBe('[prompt]\nunknown option -x');
});

test('a value that contains another is replaced as a whole', () => {
  expect(redact('Bearer secret-token', { SHORT: 'secret-token', LONG: 'Bearer secret-token' })).toBe('[LONG]');
});

test('words without any value stay as they are', () => {
  expect(redact('You’ve hit your usage limit.', { KEY: 'abcdefgh', EMPTY: '' })).toBe('You’ve hit your usage limit.');
});
