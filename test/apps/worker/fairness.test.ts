import { afterEach, expect, test } from 'vitest';
import { keys } from '#store';
import { openBox, type Box } from '../../support/box.js';
import { waitUntil } from '../../support/wait-until.js';

let box: Box;
afterEach(() => box.close());

const SLOTS = 4;
const AHEAD = 250;

/** What happened, in the order of Redis. */
async function events(): Promise<{ event: string; id: string }[]> {
  const field = (fields: string[], name: string): string => fields[fields.indexOf(name) + 1] ?? '';
  return (await box.redis.xrange(keys.events, '-', '+')).map(([, fields]) => ({
    event: field(fields, 'event'),
    id: field(fields, 'id'),
  }));
}

/** Starts between the submit of this dispatch and its own; null: it has not started. */
function startsBefore(seen: { event: string; id: string }[], id: string): number | null {
  const after = seen
    .slice(seen.findIndex((one) => one.event === 'submitted' && one.id === id))
    .filter(({ event }) => event === 'started');
  const index = after.findIndex((one) => one.id === id);
  return index === -1 ? null : index;
}

test('behind 250 dispatches of a batch, an interactive one and the first of another batch are among the next starts, and one more of the batch is not', async () => {
  box = await openBox({ slots: { account: SLOTS, node: SLOTS, dark: SLOTS } });
  const prompt = '[[sim:slow seconds=1]]';
  const night = {
    class: 'batch' as const,
    project: 'big',
    request: { id: '', cwd: box.workDir, hasSchema: false, envNames: [], batch: 'night' },
  };
  for (let i = 0; i < AHEAD; i++) await box.submit(prompt, night);
  await box.start();
  const started = async (): Promise<number> => (await events()).filter(({ event }) => event === 'started').length;
  await waitUntil(async () => (await started()) >= SLOTS, { what: 'all slots to be taken' });

  const last = await box.submit(prompt, night);
  const second = await box.submit(prompt, { ...night, request: { ...night.request, batch: 'second' } });
  const interactive = await box.submit(prompt, { class: 'interactive', project: 'person' });
  await waitUntil(
    async () => startsBefore(await events(), interactive) !== null && startsBefore(await events(), second) !== null,
    { what: 'both to start' },
  );
  const then = await started();
  await waitUntil(async () => (await started()) >= then + SLOTS, { what: 'another round of starts' });

  const seen = await events();
  expect(startsBefore(seen, interactive)).toBeLessThanOrEqual(SLOTS);
  expect(startsBefore(seen, second)).toBeLessThanOrEqual(2 * SLOTS);
  expect(startsBefore(seen, last)).toBeNull();
});
