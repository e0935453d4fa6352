import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ReceiptLine } from '#contract';
import { apiSocket } from '#daemon/api-socket';
import { stopWhenIdle } from '#daemon/idle';
import { Life } from '#daemon/life';
import { openLog } from '#daemon/log';
import { daemonEnvironment, serverEnvironment } from '#daemon/made-environment';
import { receiptLookup } from '#daemon/receipt-lookup';
import { newId } from '../../support/records.js';
import { tempFolder } from '../../support/temp.js';
import { sleep, waitUntil } from '../../support/wait-until.js';

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

test('a life is undone last first, and a part that throws keeps no other', async () => {
  const life = new Life(quiet);
  const undone: string[] = [];
  life.onLeave('a', ({ why }) => void undone.push(`a ${why}`));
  life.onLeave('b', () => Promise.reject(new Error('stuck')));
  life.onLeave('c', async () => {
    await sleep(10);
    undone.push('c');
  });
  life.began();
  await Promise.all([
    life.stop({ kill: false, keepRedis: false, why: 'first' }),
    life.stop({ kill: true, keepRedis: false, why: 'second' }),
  ]);
  expect(undone).toEqual(['c', 'a first']);
  await life.gone;
});

test('a part that never ends keeps no other, once its time is over', async () => {
  const told: unknown[] = [];
  const life = new Life({ ...quiet, warn: (what) => void told.push(what) });
  let undone = false;
  life.onLeave('a', () => void (undone = true));
  life.onLeave('b', () => new Promise(() => undefined), 20);
  life.began();
  await life.stop({ kill: false, keepRedis: false, why: 'told to' });
  expect(undone).toBe(true);
  expect(told).toEqual([{ part: 'b' }]);
});

test('a stop that comes while it starts happens when it has', async () => {
  const life = new Life(quiet);
  let undone = false;
  const stopped = life.stop({ kill: false, keepRedis: false, why: 'early' });
  life.onLeave('a', () => void (undone = true));
  await sleep(20);
  expect(undone).toBe(false);
  life.began();
  await stopped;
  expect(undone).toBe(true);
});

test('work that comes in just before the door is closed keeps the daemon', async () => {
  const events: string[] = [];
  let busy = false;
  const idle = stopWhenIdle({
    life: { stop: () => Promise.resolve(void events.push('leave')) },
    socket: {
      pause: () => {
        events.push('pause');
        if (events.length === 1) busy = true;
        return Promise.resolve();
      },
      open: () => {
        events.push('open');
        busy = false;
        return Promise.resolve();
      },
    },
    api: { drained: () => Promise.resolve() },
    log: quiet,
    idleMs: 30,
    isBusy: () => Promise.resolve(busy),
  });
  await waitUntil(() => events.includes('leave'));
  idle.stop();
  expect(events.slice(0, 4)).toEqual(['pause', 'open', 'pause', 'leave']);
});

test('what cannot be asked counts as busy', async () => {
  const left: string[] = [];
  const idle = stopWhenIdle({
    life: { stop: () => Promise.resolve(void left.push('left')) },
    socket: { pause: () => Promise.resolve(), open: () => Promise.resolve() },
    api: { drained: () => Promise.resolve() },
    log: quiet,
    idleMs: 20,
    isBusy: () => Promise.reject(new Error('Redis is away')),
  });
  await sleep(150);
  idle.stop();
  expect(left).toEqual([]);
});

test('an api socket takes the place of a stale file, is for its owner alone, and leaves nothing behind', async () => {
  const path = join(tempFolder('sock'), 'a.sock');
  writeFileSync(path, 'stale');
  const http = createServer((_request, response) => response.end('hello'));
  const socket = apiSocket(path, http, () => undefined);
  await socket.open();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await get(path)).toBe('hello');
  await socket.pause();
  expect(existsSync(path)).toBe(false);
  await socket.open();
  expect(await get(path)).toBe('hello');
  await socket.close();
  expect(existsSync(path)).toBe(false);
});

test('a socket whose file is removed again and again comes back each time', async () => {
  const path = join(tempFolder('sock'), 'a.sock');
  let reopened = 0;
  const socket = apiSocket(
    path,
    createServer((_request, response) => response.end('hello')),
    () => void reopened++,
  );
  await socket.open();
  for (let round = 1; round <= 3; round++) {
    rmSync(path);
    await waitUntil(() => reopened === round, { what: 'the socket to be made again' });
    expect(await get(path)).toBe('hello');
  }
  await socket.close();
});

test('a socket comes back when its whole folder was removed', async () => {
  const folder = join(tempFolder('sock'), 'sockets');
  const path = join(folder, 'a.sock');
  let reopened = 0;
  const socket = apiSocket(
    path,
    createServer((_request, response) => response.end('hello')),
    (error) => void (error ?? reopened++),
  );
  await socket.open();
  for (let round = 1; round <= 2; round++) {
    rmSync(folder, { recursive: true });
    await waitUntil(() => reopened === round, { what: 'the socket to be made again' });
    expect(await get(path)).toBe('hello');
  }
  await socket.close();
});

function get(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path: '/', agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve(text));
    })
      .on('error', reject)
      .end();
  });
}

test('the log has no secrets, whichever part logs them', () => {
  const path = join(tempFolder('log'), 'daemon.log');
  const log = openLog(path);
  const error = Object.assign(new Error('ERR wrong'), { command: { name: 'set', args: ['CANARY'] } });
  log.info(
    { prompt: 'CANARY', request: { env: { A: 'CANARY' } }, token: 'CANARY', a: { b: { result: 'CANARY' } } },
    'a',
  );
  log.error({ err: error }, 'b');
  const text = readFileSync(path, 'utf8');
  expect(text).not.toContain('CANARY');
  expect(text).toContain('ERR wrong');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a log that grew large is set aside while it is written, no line torn or lost, and one file before it is kept', () => {
  const path = join(tempFolder('log'), 'daemon.log');
  const log = openLog(path, { bytes: 2_000 });
  for (let n = 0; n < 40; n++) log.info({ n }, 'a line');
  const numbers = (file: string): number[] =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { n: number }).n);
  const [older, newer] = [numbers(`${path}.1`), numbers(path)];
  expect([...older, ...newer]).toEqual(
    Array.from({ length: older.length + newer.length }, (_, n) => 40 - older.length - newer.length + n),
  );
  expect(statSync(path).size).toBeLessThan(2_200);
  expect(statSync(`${path}.1`).mode & 0o777).toBe(0o600);
});

test('a log that cannot be written or set aside blocks nothing', () => {
  const path = join(tempFolder('log'), 'daemon.log');
  mkdirSync(join(`${path}.1`, 'in the way'), { recursive: true });
  const log = openLog(path, { bytes: 100 });
  for (let n = 0; n < 5; n++) log.info({ n }, 'a line');
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(6);
});

test('what a daemon and its Redis know of the shell that started them is made for them', () => {
  const shell = {
    PATH: '/bin',
    HOME: '/home/me',
    CMO_STATE_DIR: '/s',
    CMO_ATTEMPT: 'x',
    CMO_SUP: 'x',
    XDG_RUNTIME_DIR: '/run',
    OPENAI_API_KEY: 'k',
    SSH_AUTH_SOCK: 's',
    EDITOR: undefined,
  };
  expect(daemonEnvironment(shell)).toEqual({
    PATH: '/bin',
    HOME: '/home/me',
    CMO_STATE_DIR: '/s',
    XDG_RUNTIME_DIR: '/run',
  });
  expect(serverEnvironment(shell)).toEqual({ PATH: '/bin', HOME: '/home/me' });
});

test('receipts of one dispatch are found in files that grow, once each, attempts first', async () => {
  const folder = tempFolder('receipts');
  const look = receiptLookup(folder);
  const id = newId();
  const [first, second, end] = [
    line('attempt', `${id}.1`, id),
    line('attempt', `${id}.2`, id),
    line('dispatch', id, id),
  ];
  expect(await look(id)).toEqual([]);
  const file = join(folder, '2026-01.jsonl');
  writeFileSync(file, `${JSON.stringify(first)}\nno json\n${JSON.stringify(line('dispatch', newId(), ''))}\n`);
  expect(await look(id)).toEqual([first]);
  appendFileSync(file, `${JSON.stringify(end)}\n${JSON.stringify(first)}\n`);
  appendFileSync(join(folder, '2026-02.jsonl'), `${JSON.stringify(second)}\n`);
  expect(await look(id)).toEqual([first, second, end]);
  appendFileSync(file, JSON.stringify(line('attempt', `${id}.3`, id)).slice(0, 20));
  expect(await look(id)).toEqual([first, second, end]);
});

test('a line longer than a chunk, and a file that was cut, are no trouble', async () => {
  const folder = tempFolder('receipts');
  const look = receiptLookup(folder);
  const id = newId();
  const long = { ...line('dispatch', id, id), error: 'x'.repeat(3_000_000) };
  const file = join(folder, '2026-01.jsonl');
  writeFileSync(file, `${JSON.stringify(long)}\n`);
  expect(await look(id)).toHaveLength(1);
  truncateSync(file, 0);
  expect(await look(id)).toEqual([]);
});

function line(kind: 'attempt' | 'dispatch', id: string, dispatch: string): ReceiptLine {
  return { kind, schema: 'cmo.receipt/1', id, ...(kind === 'attempt' && { dispatch }) } as ReceiptLine;
}
