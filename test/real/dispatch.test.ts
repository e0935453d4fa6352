import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openRealHome, type RealHome } from './real-home.js';

let home: RealHome;
beforeAll(async () => {
  home = await openRealHome();
});
afterAll(() => home.close());
beforeEach(() => home.admin('reset', {}));

const linesOf = (id: string) => home.receipts().filter((line) => line.id === id || line.id.startsWith(`${id}.`));

describe('with the real CLIs', () => {
  test.each(['codex', 'claude'] as const)('%s gives a text answer by one request', async (lane) => {
    const { code, envelope } = await home.run(
      ['--role', 'research', '--pin', lane],
      'Say hello. [[sim:echo text="a real answer"]]',
    );
    expect(envelope).toMatchObject({ ok: true, lane, state: 'succeeded', failedOver: false });
    expect(envelope.result).toContain('a real answer');
    expect(code).toBe(0);
    expect(envelope.usage?.inputTokens).toBeGreaterThan(0);
    expect(envelope.attempts[0]?.session).toMatch(/^[0-9a-f-]{36}$/);
    expect(await home.requests(lane)).toHaveLength(1);
  });

  test.each(['codex', 'claude'] as const)('%s writes a file only where it may', async (lane) => {
    const wrote = join(home.work, `${lane}-wrote.txt`);
    const marker = `[[sim:tool cmd="echo yes > ${wrote}"]]`;
    await home.run(['--role', 'research', '--pin', lane], marker);
    expect(existsSync(wrote)).toBe(false);
    const { envelope } = await home.run(['--role', 'implement', '--pin', lane], marker);
    expect(envelope).toMatchObject({ ok: true });
    expect(existsSync(wrote)).toBe(true);
  });

  test('a codex usage limit ends on claude with two attempt lines and one dispatch line, and closes the account until its reset', async () => {
    const before = Date.now();
    await home.admin('scenario', { vendor: 'codex', name: 'usage-limit', params: { resets_in: '7200' } });
    const { code, envelope } = await home.run(['--role', 'implement'], 'Do it.');
    expect(envelope).toMatchObject({ ok: true, lane: 'claude', failedOver: true, state: 'succeeded' });
    expect(code).toBe(0);
    const lines = linesOf(envelope.dispatchId);
    expect(lines.map((line) => line.kind)).toEqual(['attempt', 'attempt', 'dispatch']);
    const [first, second, whole] = lines;
    expect(first).toMatchObject({ lane: 'codex', outcome: 'failed', class: 'usage_limit' });
    expect(second).toMatchObject({ lane: 'claude', outcome: 'ok', class: null });
    expect(whole).toMatchObject({
      ok: true,
      provider: 'claude',
      attempts: 2,
      failedOver: true,
      failures: ['usage_limit'],
    });
    const resets = first?.kind === 'attempt' ? Date.parse(first.resetsAt ?? '') : Number.NaN;
    // codex prints its reset by the minute.
    expect(Math.abs(resets - (before + 7_200_000))).toBeLessThan(180_000);
    expect(await home.requests('codex')).toHaveLength(1);

    const status = JSON.parse((await home.cmo(['status', '--json'])).stdout) as {
      data: { lanes: { id: string; closed: { until: string } | null }[] };
    };
    const closed = status.data.lanes.find((lane) => lane.id === 'codex')?.closed;
    expect(Date.parse(closed?.until ?? '')).toBe(resets);
    // The next one goes to claude without asking codex again.
    await home.admin('reset', {});
    expect((await home.run(['--role', 'implement'], 'Next.')).envelope).toMatchObject({ ok: true, lane: 'claude' });
    expect(await home.requests('codex')).toEqual([]);
  });
});
