import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { besideNotes, workPlaces } from '#worker/work-places';
import { tempFolder } from '../../support/temp.js';

const reader = (cwd: string) => ({ cwd, writes: false, exclusive: false });
const writer = (cwd: string) => ({ cwd, writes: true, exclusive: false });
const alone = (cwd: string) => ({ cwd, writes: true, exclusive: true });

test('writers of one folder are told of each other, by whatever path they name it; readers and others are not', () => {
  const folder = tempFolder('place');
  const other = join(tempFolder('other'), 'link');
  symlinkSync(folder, other);
  const places = workPlaces(() => undefined);
  for (const [id, place] of [
    ['a', writer(folder)],
    ['b', writer(other)],
    ['c', reader(folder)],
    ['d', writer('/')],
  ] as const)
    expect(places.enter(id, place)).toEqual({ ok: true });
  expect(['a', 'b', 'c', 'd', 'nobody'].map((id) => places.beside(id))).toEqual([['b'], ['a'], [], [], []]);
  places.leave('b');
  // It was beside it, and stays so for its receipt.
  expect(places.beside('a')).toEqual(['b']);
});

test('an exclusive writer waits for other writers, and they wait for it; readers never wait', () => {
  const freed: string[][] = [];
  const places = workPlaces((dispatches) => freed.push(dispatches));
  places.enter('w', writer('/x'));
  expect(places.enter('e', alone('/x'))).toEqual({ ok: false, holder: 'w' });
  places.park('e', '/x');
  expect(places.enter('r', reader('/x'))).toEqual({ ok: true });
  places.leave('r');
  expect(freed).toEqual([]);
  places.leave('w');
  expect(freed).toEqual([['e']]);
  expect(places.enter('e', alone('/x'))).toEqual({ ok: true });
  expect(places.enter('e', alone('/x'))).toEqual({ ok: true });
  expect([
    places.enter('w2', writer('/x')),
    places.enter('e2', alone('/x')),
    places.enter('r', reader('/x')),
    places.enter('w3', writer('/y')),
  ]).toEqual([{ ok: false, holder: 'e' }, { ok: false, holder: 'e' }, { ok: true }, { ok: true }]);
  places.park('w2', '/x');
  places.park('e2', '/x');
  places.leave('e');
  expect(freed[1]).toEqual(['w2', 'e2']);
  places.leave('e');
  expect(freed).toHaveLength(2);
});

test('a run that was found at work counts, whatever else runs', () => {
  const places = workPlaces(() => undefined);
  places.found('a', alone('/x'));
  places.found('b', writer('/x'));
  expect(places.beside('b')).toEqual(['a']);
  expect(places.enter('c', writer('/x'))).toEqual({ ok: false, holder: 'a' });
});

test('a receipt names a few of many', () => {
  expect(besideNotes([])).toEqual([]);
  expect(besideNotes(['a', 'b'])).toEqual(['beside:a,b']);
  expect(besideNotes(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toEqual(['beside:a,b,c,d,e,+2']);
});
