import { expect, test } from 'vitest';
import { counted, dispatchCount } from '#cli/output/count-text';

test('one is counted in the singular, all else in the plural', () => {
  expect([0, 1, 2].map((n) => counted(n, 'file'))).toEqual(['0 files', '1 file', '2 files']);
  expect([1, 250].map(dispatchCount)).toEqual(['1 dispatch', '250 dispatches']);
});
