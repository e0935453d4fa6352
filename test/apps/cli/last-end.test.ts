import { afterEach, beforeEach, expect, test } from 'vitest';
import { openCmo, type Cmo } from '../../support/cmo.js';

let box: Cmo;
beforeEach(() => {
  box = openCmo();
});
afterEach(() => box.close());

type Row = { id: string; status: string; seen: string; fix: string | null };
const rows = async (): Promise<Row[]> =>
  (await box.ask<{ data: { rows: Row[] } }>(['doctor', '--only', 'daemon'])).data.rows;
const ended = async (): Promise<{ up: boolean; ended: object | null }> =>
  (await box.ask<{ data: { up: boolean; ended: object | null } }>(['status'])).data;

test('status and doctor tell of a daemon that was killed, while none runs and when the next one does', async () => {
  await box.cmo(['up']);
  const [pid] = box.daemonPids();
  expect(await ended()).toMatchObject({ up: true, ended: null });
  await box.killDaemon();
  expect(await ended()).toMatchObject({ up: false, ended: { pid, times: 1 } });
  expect(await rows()).toMatchObject([
    { id: 'daemon', status: 'skipped' },
    {
      id: 'daemon:ended',
      status: 'warn',
      seen: expect.stringContaining(`pid ${pid}`) as string,
      fix: expect.stringContaining('daemon.log') as string,
    },
  ]);
  await box.cmo(['up']);
  expect(await ended()).toMatchObject({ up: true, ended: { pid, times: 1 } });
  expect(await rows()).toMatchObject([
    { id: 'daemon', status: 'ok' },
    { id: 'daemon:ended', status: 'warn' },
  ]);
  expect((await box.cmo(['status'])).stdout).toMatch(
    new RegExp(`^earlier {2}a daemon \\(pid ${pid}\\) ended at .* not in order: it was killed`, 'm'),
  );
});

test('one that went down in order leaves nothing to tell', async () => {
  await box.cmo(['up']);
  await box.cmo(['down']);
  expect(await ended()).toEqual({ up: false, ended: null });
  await box.cmo(['up']);
  expect(await rows()).toMatchObject([{ id: 'daemon', status: 'ok' }]);
});
