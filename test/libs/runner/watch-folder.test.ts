import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { watchFolder, type FolderWatch } from '#runner';
import { tempFolder } from '../../support/temp.js';
import { sleep } from '../../support/wait-until.js';

const open: FolderWatch[] = [];
afterEach(() => open.splice(0).forEach((watch) => watch.close()));

const LONG = 1_000_000;

function watching(folder: string, fallbackMs = LONG): FolderWatch {
  const watch = watchFolder(folder, { fallbackMs, restMs: 5 });
  open.push(watch);
  return watch;
}

test('a write in the folder is noticed without the fallback, also one before the question', async () => {
  const folder = tempFolder('watch');
  const watch = watching(folder);
  setTimeout(() => appendFileSync(join(folder, 'out'), 'a'), 30);
  await watch.changed();
  appendFileSync(join(folder, 'out'), 'b');
  await sleep(50);
  await watch.changed();
});

test('without any word the fallback answers; so it does where nothing can be watched', async () => {
  await watching(tempFolder('watch'), 20).changed();
  await watching('/no/such/folder', 20).changed();
});

test('a thousand writes are a few answers', async () => {
  const folder = tempFolder('watch');
  const watch = watchFolder(folder, { fallbackMs: LONG, restMs: 50 });
  open.push(watch);
  let answers = 0;
  const writing = (async () => {
    for (let i = 0; i < 1_000; i++) {
      appendFileSync(join(folder, 'out'), 'x');
      if (i % 100 === 0) await sleep(10);
    }
  })();
  let done = false;
  void writing.then(() => (done = true));
  while (!done) {
    await watch.changed();
    answers++;
  }
  expect(answers).toBeLessThan(100);
});

test('waking and closing let a waiting call go', async () => {
  const watch = watching(tempFolder('watch'));
  setTimeout(() => watch.wake(), 10);
  await watch.changed();
  setTimeout(() => watch.close(), 10);
  await watch.changed();
  await watch.changed();
});
