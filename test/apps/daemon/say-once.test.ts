import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLog } from '../../../apps/daemon/log.js';
import { sayOnce } from '../../../apps/daemon/say-once.js';
import { tempFolder } from '../../support/temp.js';
import { sleep, waitUntil } from '../../support/wait-until.js';

type Line = { msg: string; level: string; again?: number; besides?: object[] } & Record<string, unknown>;

function log(tellAgainMs?: number): { it: ReturnType<typeof openLog>; lines: () => Line[] } {
  const path = join(tempFolder('log'), 'daemon.log');
  const it = openLog(path, tellAgainMs === undefined ? {} : { tellAgainMs });
  const lines = (): Line[] =>
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  return { it, lines };
}

test('a fault that comes again with each round is said once, then counted, with the others that it met', async () => {
  const { it, lines } = log(300);
  for (let round = 0; round < 20; round++) {
    it.warn({ error: 'BUSY' }, 'the scan failed; it is tried again');
    for (const dispatch of ['d-1', 'd-2'])
      it.error({ dispatch, err: new Error('BUSY') }, 'tending failed; the next scan goes on');
  }
  expect(lines().map(({ msg, again }) => ({ msg, again }))).toEqual([
    { msg: 'the scan failed; it is tried again', again: undefined },
    { msg: 'tending failed; the next scan goes on', again: undefined },
  ]);
  await waitUntil(() => lines().length === 4, { what: 'both counts to be told' });
  expect(lines()[2]).toMatchObject({ level: 'warn', error: 'BUSY', again: 19 });
  expect(lines()[3]).toMatchObject({ level: 'error', dispatch: 'd-1', again: 39, besides: [{ dispatch: 'd-2' }] });
  await sleep(700);
  expect(lines()).toHaveLength(4);
  it.warn({ error: 'BUSY' }, 'the scan failed; it is tried again');
  expect(lines()).toHaveLength(5);
});

test('two faults that take turns are each said once', () => {
  const { it, lines } = log();
  for (let n = 0; n < 10; n++) it.warn({ error: n % 2 === 0 ? 'BUSY' : 'closed' }, 'queue worker');
  expect(lines().map(({ error }) => error)).toEqual(['BUSY', 'closed']);
});

test('what is no repetition is said: another dispatch, another error, a plain line', () => {
  const { it, lines } = log();
  for (const dispatch of ['d-1', 'd-2']) it.warn({ dispatch }, 'a waiting dispatch had no ticket; it has one now');
  for (const error of ['one', 'two']) it.warn({ error }, 'the scan failed; it is tried again');
  for (let n = 0; n < 3; n++) it.info({}, 'ready');
  expect(lines()).toHaveLength(7);
});

test('beyond the kinds that are kept in mind everything is said', () => {
  const said: object[] = [];
  const { hear, flush } = sayOnce();
  for (let round = 0; round < 2; round++)
    for (let n = 0; n < 600; n++) hear(40, 'failed', { error: String(n) }, (fields) => said.push(fields));
  expect(said).toHaveLength(600 + 100);
  flush();
  expect(said).toHaveLength(600 + 100 + 500);
});
