import { expect, test } from 'vitest';
import { percentBar, shortNumber } from '#cli/output/percent-text';

test('a bar has ten cells whatever the vendor counts', () => {
  expect([-3, 0, 4, 5, 64, 100, 240].map(percentBar)).toEqual([
    '··········',
    '··········',
    '··········',
    '█·········',
    '██████····',
    '██████████',
    '██████████',
  ]);
});

test('a number has one decimal at most, and none that is 0', () => {
  expect([0, 12, 12.04, 68.25, 68.96].map(shortNumber)).toEqual(['0', '12', '12', '68.3', '69']);
});
