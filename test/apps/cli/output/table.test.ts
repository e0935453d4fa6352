import pc from 'picocolors';
import { expect, test } from 'vitest';
import { table, width, wrapped } from '#cli/output/table';

const ROWS = [
  ['--role ROLE', 'mechanical, research, implement, review, synthesis'],
  ['--write', 'it may change files'],
];

test('a table keeps a row in a line, whatever its length, where no terminal reads it', () => {
  expect(table(ROWS)).toEqual([
    '--role ROLE  mechanical, research, implement, review, synthesis',
    '--write      it may change files',
  ]);
});

test('in a terminal the last cell goes on below itself, or below its row where it would be too thin', () => {
  expect(table(ROWS, 48)).toEqual([
    '--role ROLE  mechanical, research, implement,',
    '             review, synthesis',
    '--write      it may change files',
  ]);
  expect(table(ROWS, 40)).toEqual([
    '--role ROLE',
    '  mechanical, research, implement,',
    '  review, synthesis',
    '--write      it may change files',
  ]);
});

test('a line goes on under its own text, and keeps the blanks in it', () => {
  expect(wrapped('  said       no room in the window of today', 30, 13)).toEqual([
    '  said       no room in the',
    '             window of today',
  ]);
});

test('colours take no room, and a word that no line holds stays whole, where it is', () => {
  const { red } = pc.createColors(true);
  expect(wrapped(`${red('three')} words ${'x'.repeat(20)}`, 11).map(width)).toEqual([32]);
});
