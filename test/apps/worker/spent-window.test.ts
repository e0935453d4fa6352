import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { AttemptReceipt, LaneConfig } from '#contract';
import { openBox, type Box } from '../../support/box.js';
import { testConfig } from '../../support/records.js';
import { tempFolder } from '../../support/temp.js';
import { waitUntil } from '../../support/wait-until.js';

let box: Box;
afterEach(() => box.close());

type Vector = { id: string; input: { vendor: string; mode?: string; stdout?: string }; expected: { class: string } };

/**
 * Every sentence by which a CLI was seen to say that a window is
 * spent, whatever its generation: from the vectors' result lines.
 */
function limitTexts(vendor: 'codex' | 'claude'): string[] {
  const { vectors } = JSON.parse(readFileSync(new URL('../../vectors/failures.json', import.meta.url), 'utf8')) as {
    vectors: Vector[];
  };
  const texts = vectors
    .filter(({ input, expected }) => input.vendor === vendor && expected.class === 'usage_limit')
    .flatMap(({ input }) =>
      (input.stdout ?? '').split('\n').flatMap((line) => {
        try {
          const event = JSON.parse(line) as { type?: string; result?: string; error?: { message?: string } };
          return event.type === 'result' && typeof event.result === 'string'
            ? [event.result]
            : event.type === 'turn.failed' && typeof event.error?.message === 'string'
              ? [event.error.message]
              : [];
        } catch {
          return [];
        }
      }),
    )
    // What the stand-ins can say in one line.
    .filter((text) => text.length < 400 && !/[\n{]/.test(text));
  return [...new Set(texts)];
}

const SLOTS = 4;

test.each(['claude', 'codex'] as const)(
  'a spent window of %s costs one refusal for each run in flight, in whatever words; all work ends on the other vendor',
  async (lane) => {
    const other = lane === 'claude' ? 'codex' : 'claude';
    const folder = tempFolder('window');
    const [window, texts] = [join(folder, 'window'), join(folder, 'texts')];
    writeFileSync(texts, `${limitTexts(lane).join('\n')}\n`);
    expect(limitTexts(lane).length).toBeGreaterThan(5);
    const lanes = testConfig().lanes.map((one) =>
      one.id === lane ? { ...one, slots: SLOTS, env: { CMO_TEST_WINDOW: window, CMO_TEST_LIMIT_TEXTS: texts } } : one,
    );
    box = await openBox({
      lanes,
      slots: { account: 12, node: 16, dark: 12 },
      timing: { sweepMs: 500, refusalMs: [60_000] },
    });
    const attempts = (): AttemptReceipt[] => box.receipts().flatMap((line) => (line.kind === 'attempt' ? [line] : []));
    const resets = Math.floor(Date.now() / 1000) + 20;
    writeFileSync(window, String(resets));

    const ids = await Promise.all(Array.from({ length: 200 }, (_, n) => box.submit(`${n}`, { lane })));
    await box.start();
    for (const id of ids)
      expect(
        (
          await waitUntil(async () => ((record) => (record?.endedAt ? record : null))(await box.records.read(id)), {
            timeoutMs: 120_000,
          })
        ).state,
      ).toBe('succeeded');
    const refused = attempts().filter(({ class: cls }) => cls === 'usage_limit');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThanOrEqual(SLOTS);
    expect(refused.map((one) => one.lane)).toEqual(refused.map(() => lane));
    expect(
      attempts().filter(({ outcome, lane: where }) => outcome === 'ok' && where === other).length,
    ).toBeGreaterThanOrEqual(200 - SLOTS);
    const { closed } = await box.gate.snapshot(lane);
    expect(closed?.reason ?? 'usage_limit').toBe('usage_limit');

    // codex states its reset in the sentence alone, and these are of other days.
    if (lane === 'codex') return;
    // It opens by itself at the reset, with one that tries it first.
    const late = await box.submit('late', { lane, request: { failover: false } as never });
    expect(
      (
        await waitUntil(async () => ((record) => (record?.endedAt ? record : null))(await box.records.read(late)), {
          timeoutMs: 90_000,
        })
      ).state,
    ).toBe('succeeded');
    expect(attempts().find(({ dispatch }) => dispatch === late)).toMatchObject({ lane, outcome: 'ok', attempt: 1 });
    expect((await box.gate.snapshot(lane)).closed).toBeNull();
  },
  240_000,
);

test.each(['claude', 'codex'] as const)(
  'every sentence by which %s was seen to say so closes the window of its own account at once, and its work ends on the other vendor',
  async (kind) => {
    const other = kind === 'claude' ? 'codex' : 'claude';
    const folder = tempFolder('sentences');
    const window = join(folder, 'window');
    writeFileSync(window, String(Math.floor(Date.now() / 1000) + 600));
    const base = testConfig().lanes;
    const texts = limitTexts(kind);
    // An account for each sentence: none of them can close it for another.
    const lanes = base.flatMap((lane): LaneConfig[] =>
      lane.id === kind
        ? texts.map((text, i) => {
            const file = join(folder, `text-${i}`);
            writeFileSync(file, `${text}\n`);
            const env = { CMO_TEST_WINDOW: window, CMO_TEST_LIMIT_TEXTS: file };
            return { ...lane, id: `${kind}-${i}`, account: `${kind}-${i}`, slots: 1, env };
          })
        : [lane],
    );
    box = await openBox({
      lanes,
      slots: { account: 8, node: 8, dark: 8 },
      timing: { sweepMs: 500, refusalMs: [600_000] },
    });
    // Two each: the second may not meet what the first has met.
    const ids = await Promise.all(
      [...texts, ...texts].map((_, n) => box.submit(`${n}`, { lane: `${kind}-${n % texts.length}` })),
    );
    await box.start();
    for (const id of ids)
      expect(
        await waitUntil(async () => ((record) => (record?.endedAt ? record : null))(await box.records.read(id)), {
          timeoutMs: 120_000,
        }),
      ).toMatchObject({ state: 'succeeded', lane: other });
    const refused = box
      .receipts()
      .flatMap((line) => (line.kind === 'attempt' && line.lane.startsWith(`${kind}-`) ? [line] : []));
    expect(
      texts.map((text, i) => [text, refused.filter(({ lane }) => lane === `${kind}-${i}`).map((one) => one.class)]),
    ).toEqual(texts.map((text) => [text, ['usage_limit']]));
    for (const [i, text] of texts.entries())
      expect((await box.gate.snapshot(`${kind}-${i}`)).closed, text).toMatchObject({ reason: 'usage_limit' });
  },
  240_000,
);
