// From what vitest reports to the suite's last line.

/**
 * @param result vitest's JSON report, null when there is none
 * @param code vitest's exit code
 */
export function countOf(result, code) {
  if (result === null) return { passed: 0, failed: 1, skipped: 0 };
  const count = {
    passed: result.numPassedTests,
    // A file that fails before its first test has no test that could be counted.
    failed:
      result.numFailedTests +
      result.testResults.filter(
        (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
      ).length,
    skipped: result.numPendingTests + (result.numTodoTests ?? 0),
  };
  // An error outside every test (an unhandled rejection, a hook of the whole run) must not end in `0 failed`.
  if (code !== 0 && count.failed === 0) count.failed = 1;
  return count;
}

export function lastLine(counts) {
  const sum = (key) => counts.reduce((total, count) => total + count[key], 0);
  const skipped = sum('skipped');
  return `${sum('passed')} passed, ${sum('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
