import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { byCommander } from '#cli/flags/by-commander';
import { on, repeated, valued } from '#cli/flags/flag';
import { anyText } from '#cli/flags/readers';
import { scan } from '#cli/flags/scan';

const flags = {
  write: on('--write', 'x'),
  follow: { ...on('--follow', 'x'), short: '-f' as const },
  role: valued('--role', 'ROLE', anyText(), 'x'),
  noFailover: on('--no-failover', 'x'),
  label: repeated('--label', 'A=B', anyText(), 'x'),
};
const usage = { name: 'run', words: { shown: '', min: 0, max: 9 }, flags };
const word = fc.oneof(
  fc.constantFrom(
    '--write',
    '--role',
    '--role=',
    '--role=judge',
    '--label',
    '--label=a=b',
    '--no-failover',
    '--follow',
    '-f',
    '-',
    '--',
    '',
    'd-1',
    'judge',
    '-5',
    '--rol',
    '--write=1',
    '--role=--write',
    '--help',
    '-h',
    '-fx',
    '--failover',
    '---',
  ),
  fc.string(),
);

test('what the quick scan takes, commander takes the same; what commander refuses, the scan leaves to it', () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (argv) => {
      const quick = scan(flags, argv);
      if (quick === null) return;
      taken++;
      const slow = byCommander(usage, argv);
      expect(slow.kind, argv.join(' ')).toBe('scanned');
      if (slow.kind !== 'scanned') return;
      expect([Object.fromEntries(quick.given), quick.words]).toEqual([Object.fromEntries(slow.given), slow.words]);
    }),
    { numRuns: 3_000 },
  );
  expect(taken).toBeGreaterThan(300);
});

test('anything but written-out flags is left to commander', () => {
  for (const argv of [['-f'], ['--rol'], ['--role'], ['--write=1'], ['--help'], ['--']])
    expect(scan(flags, argv)).toBeNull();
  expect(scan(flags, ['a', '--label', '--x', '--label=y=z', '-', '--write'])).toEqual({
    kind: 'scanned',
    given: new Map([
      ['label', ['--x', 'y=z']],
      ['write', ['']],
    ]),
    words: ['a', '-'],
  });
});
