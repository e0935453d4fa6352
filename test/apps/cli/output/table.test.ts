import pc from 'picocolors';
import { expect, test } from 'vitest';
import { clip, table, width, wrapped } from '#cli/output/table';

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

test.each([
  ['plain', 5],
  ['漢字', 4],
  ['ﾊﾝｶｸ', 4],
  ['ｆｕｌｌ', 8],
  ['한국어', 6],
  ['🎉🚀', 4],
  ['…·─✓', 4],
  ['e\u0301', 1],
  ['Zürich', 6],
  ['', 0],
])('%j takes the columns that a terminal draws it in', (text, columns) => {
  expect(width(text)).toBe(columns);
});

test('columns stay in line and lines in the terminal also where a sign takes two columns', () => {
  expect(
    table([
      ['仕事', 'a'],
      ['work', 'b'],
    ]),
  ).toEqual(['仕事  a', 'work  b']);
  expect(clip('理由🎉'.repeat(9), 12)).toBe('理由🎉理由…');
  expect(clip('🎉🎉', 4)).toBe('🎉🎉');
  expect(clip('🎉🎉', 3)).toBe('🎉…');
  for (let max = 2; max < 40; max++)
    expect(width(clip('lane 理由🎉 e\u0301 '.repeat(9), max))).toBeLessThanOrEqual(max);
});

test('a name with a terminal’s own words in it moves no cursor and colours nothing', () => {
  expect(clip('p\u001b[31mred\u0007\nx\u009b2J', 80)).toBe('p[31mred x2J');
});
