import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lending } from '#api/lending';
import { newId } from '../../support/records.js';
import { tempFolder } from '../../support/temp.js';
import { sleep, waitUntil } from '../../support/wait-until.js';
import { openApi, type TestApi } from './api.js';

test('a slot is lent with the first question, stays so between two, and is taken back when no more come', async () => {
  const told: [string, boolean][] = [];
  const lent = lending((attempt, on) => told.push([attempt, on]), 50);
  const first = lent.waits('a.1');
  const second = lent.waits('a.1');
  lent.waits('b.1');
  first();
  first();
  await sleep(80);
  expect(told).toEqual([
    ['a.1', true],
    ['b.1', true],
  ]);
  second();
  await sleep(10);
  const third = lent.waits('a.1');
  await sleep(80);
  expect(told).toHaveLength(2);
  third();
  await waitUntil(() => told.length === 3);
  expect(told[2]).toEqual(['a.1', false]);
  lent.waits('a.1');
  expect(told[3]).toEqual(['a.1', true]);
  lent.close();
});

describe('the question of an agent about its own child', () => {
  let api: TestApi;
  let socket: string;
  beforeEach(async () => {
    api = await openApi();
    socket = join(tempFolder('s'), 'api.sock');
    await api.api.app.listen({ path: socket });
  });
  afterEach(() => api.close());

  const parent = `${newId()}.1`;
  /** @returns how to leave without the answer */
  const ask = (path: string, attempt?: string): (() => void) => {
    const request = httpRequest(
      { socketPath: socket, path, headers: attempt === undefined ? {} : { 'cmo-attempt': attempt } },
      (response) => response.resume(),
    );
    request.on('error', () => undefined);
    request.end();
    return () => void request.destroy();
  };

  test('lends its slot while it waits, even when its client is killed; no other client’s question does', async () => {
    const { dispatchId: child } = await api.submit({ parent });
    const { dispatchId: other } = await api.submit();
    for (const leave of [
      ask(`/v1/dispatches/${child}?wait=5000`),
      ask(`/v1/dispatches/${other}?wait=5000`, parent),
      ask(`/v1/dispatches/${child}?wait=5000`, `${newId()}.1`),
      ask(`/v1/dispatches/${child}`, parent),
    ]) {
      await sleep(50);
      leave();
    }
    expect(api.lent).toEqual([]);
    const leave = ask(`/v1/dispatches/${child}?wait=20000`, parent);
    await waitUntil(() => api.lent.length === 1);
    leave();
    await waitUntil(() => api.lent.length === 2);
    expect(api.lent).toEqual([
      [parent, true],
      [parent, false],
    ]);
  });

  test('takes it back when the child has ended', async () => {
    const { dispatchId: child } = await api.submit({ parent });
    ask(`/v1/dispatches/${child}?wait=20000`, parent);
    await waitUntil(() => api.lent.length === 1);
    await api.end(child);
    await waitUntil(() => api.lent.length === 2);
    expect(api.lent[1]).toEqual([parent, false]);
  });
});
