import pc from 'picocolors';
import { expect, test } from 'vitest';
import { errorBody } from '#contract';
import { failureLines } from '#cli/output/envelope-text';
import { errorText } from '#cli/output/error-text';
import { envelope } from '../support/fake-daemon.js';

test('an error tells a person its moments by the local clock and how far off they are', () => {
  const now = new Date(2026, 10, 30, 8, 0).getTime();
  const at = new Date(now + 98 * 60_000).toISOString();
  const error = errorBody('CMO_E_DEFERRED', `its --deadline passed: ${at}`, {
    details: [`codex: closed until ${at}`],
    retryAfter: at,
  });
  expect(errorText(error, pc.createColors(false), now).split('\n')).toEqual([
    'cmo: its --deadline passed: 09:38 (in 1h 38m) [CMO_E_DEFERRED]',
    '  codex: closed until 09:38 (in 1h 38m)',
    expect.stringContaining('fix:'),
    '  worth another try after 09:38 (in 1h 38m)',
  ]);
});

test('what an agent had said before it was cut off is looked for where it is', () => {
  const cut = envelope('d-01JE0000000000000000000001', {
    state: 'failed',
    error: errorBody('CMO_E_NEEDS_LOOK'),
    partial: 'I have written',
  });
  const lines = failureLines(cut, pc.createColors(false), 0);
  expect(lines).toContain(
    '  what it had said so far: `cmo logs d-01JE0000000000000000000001`, and `partial` in `cmo result --json`',
  );
  expect(lines.at(-1)).toContain('`cmo logs d-01JE0000000000000000000001`');
});
