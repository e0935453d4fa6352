import { expect, test } from 'vitest';
import { countOf, lastLine } from '../../scripts/suite/count.mjs';

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((each) => ({ status: each })),
});
const report = (passed: number, failed: number, pending: number, testResults: unknown[]) => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: pending,
  testResults,
});

test('the last line counts tests, and says skipped only when something was', () => {
  expect(lastLine([countOf(report(3, 0, 0, [file('passed', 'passed')]), 0)])).toBe('3 passed, 0 failed');
  expect(lastLine([{ passed: 1, failed: 1, skipped: 0 }, countOf(report(3, 0, 2, []), 0)])).toBe(
    '4 passed, 1 failed, 2 skipped',
  );
});

test('a file that fails before its first test, a run without a report and an error outside every test each count as failed', () => {
  expect(countOf(report(3, 1, 0, [file('failed', 'failed', 'passed'), file('failed')]), 1).failed).toBe(2);
  expect(countOf(null, 1).failed).toBe(1);
  expect(countOf(report(3, 0, 0, []), 1).failed).toBe(1);
});
