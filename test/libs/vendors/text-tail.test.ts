import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextTail } from '#vendors/text-tail';

test('the end of any text stays, whole characters only, and no more than twice what was asked for', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { maxLength: 60 }),
      fc.integer({ min: 8, max: 64 }),
      (pieces, most) => {
        const tail = new TextTail(most);
        for (const piece of pieces) tail.add(piece);
        const [whole, kept] = [pieces.join(''), tail.text()];
        if (Buffer.byteLength(whole) <= most) expect(kept).toBe(whole);
        expect(whole.endsWith(kept)).toBe(true);
        if (Buffer.byteLength(whole) > most) expect(Buffer.byteLength(kept)).toBeGreaterThan(most - 8);
      },
    ),
  );
});

test('it can be begun anew', () => {
  const tail = new TextTail(100);
  tail.add('one');
  tail.clear();
  tail.add('two');
  expect(tail.text()).toBe('two');
});
