import { beforeEach, expect, test } from 'vitest';
import { attemptId } from '#contract';
import { lentSlots, type LentSlots } from '#worker/lent-slots';

const DISPATCH = 'd-01JE0000000000000000000000';
const ATTEMPT = attemptId(DISPATCH, 1);

type Parts = Parameters<typeof lentSlots>;

let calls: string[] = [];
let freed = 0;
let gone: Set<string>;
let slots: LentSlots;

beforeEach(() => {
  [calls, freed, gone] = [[], 0, new Set()];
  const gate = {
    lend: async (attempt: string, account: string, lent: boolean): Promise<boolean> => {
      // The first call is the slowest: only a queue keeps the order.
      await new Promise((resolve) => setTimeout(resolve, calls.length === 0 ? 20 : 1));
      calls.push(`${attempt} ${account} ${lent ? 'lent' : 'taken back'}`);
      return true;
    },
  };
  const records = { read: () => Promise.resolve({ account: 'codex' }) };
  const roster = {
    all: () => [{ dispatch: DISPATCH, attempt: 1 }],
    has: (attempt: string) => attempt === ATTEMPT && !gone.has(attempt),
  };
  slots = lentSlots(
    { gate, records } as unknown as Parts[0],
    () => roster as unknown as ReturnType<Parts[1]>,
    () => {
      freed++;
    },
  );
});

test('a lent slot frees a place of the node, and counts until it is taken back', async () => {
  await slots.lend(ATTEMPT, true);
  expect([slots.count(), freed]).toEqual([1, 1]);
  await slots.lend(ATTEMPT, false);
  expect([slots.count(), freed]).toEqual([0, 1]);
});

test('a slot that is taken back right after it was lent does not end up lent', async () => {
  await Promise.all([slots.lend(ATTEMPT, true), slots.lend(ATTEMPT, false)]);
  expect(calls).toEqual([`${ATTEMPT} codex lent`, `${ATTEMPT} codex taken back`]);
  expect(slots.count()).toBe(0);
});

test('the slot of an attempt that is over is not lent, and no longer counts', async () => {
  await slots.lend(ATTEMPT, true);
  slots.forget(ATTEMPT);
  gone.add(ATTEMPT);
  await slots.lend(ATTEMPT, true);
  expect([slots.count(), calls.length]).toEqual([0, 1]);
});
