import { describe, expect, test } from 'vitest';
import type { LaneFacts } from '#contract';
import { decide, deferral } from '#policy';
import { TWO } from './cases.js';

const RESET = '2026-12-01T03:00:00.000Z';
const paused: LaneFacts = {
  available: false,
  installed: true,
  hardBlocked: true,
  blockedBy: 'paused',
  nextResetAt: null,
};
const loggedOut: LaneFacts = { ...paused, blockedBy: 'auth' };
const spent: LaneFacts = { available: true, installed: true, worstPercent: 100, nextResetAt: RESET };
const missing: LaneFacts = { available: false, installed: false };

const told = (codex: LaneFacts, claude: LaneFacts, pin?: string): ReturnType<typeof deferral> =>
  deferral(decide(pin === undefined ? {} : { pin }, { codex, claude }, TWO));

describe('what is reported of work that no lane takes', () => {
  test('a window that is spent is waited for, until its reset', () => {
    expect(told(spent, spent)).toMatchObject({
      code: 'CMO_E_DEFERRED',
      details: [`codex: exhausted until ${RESET}`, `claude: exhausted until ${RESET}`],
      fix: 'wait for the window with `--max-wait 8h`, or use `cmo submit`',
      retryAfter: RESET,
    });
  });

  test('a pause is reported as a pause, without naming a window', () => {
    expect(told(paused, paused)).toMatchObject({
      code: 'CMO_E_DEFERRED',
      details: ['codex: paused', 'claude: paused'],
      fix: '`cmo resume --all` takes the pause back',
    });
    expect(told(paused, spent).message).toBe('no lane is usable now: codex paused, claude exhausted');
    expect(told(paused, spent, 'codex').fix).toBe('`cmo resume codex` takes the pause back');
  });

  test('each cause has its way out when there are several', () => {
    const { fix } = told(paused, spent);
    expect(fix).toContain('`cmo resume --all`');
    expect(fix).toContain('`--max-wait 8h`');
    expect(told(loggedOut, spent).fix).toContain('`cmo doctor`');
  });

  test('if every lane lacks a login or a CLI, that is the error, not a window', () => {
    for (const [codex, claude] of [
      [loggedOut, loggedOut],
      [loggedOut, missing],
      [missing, missing],
    ] as const) {
      expect(told(codex, claude)).toMatchObject({
        code: 'CMO_E_NO_LANE',
        fix: expect.stringContaining('cmo doctor') as string,
      });
    }
    expect(told(loggedOut, missing).details).toEqual(['codex: closed (auth)', 'claude: missing']);
  });
});
