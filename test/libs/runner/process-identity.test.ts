import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { isAlive, parseStat, procIdentities, psIdentities, readStat } from '#runner/process-identity';
import { killNow, processState, signal } from '../../support/processes.js';
import { waitUntil } from '../../support/wait-until.js';

const children: number[] = [];
afterEach(() => children.splice(0).forEach((pid) => signal(pid, 'SIGKILL')));

function sleeper(): number {
  const { pid } = spawn('sleep', ['1000'], { stdio: 'ignore' });
  children.push(pid ?? 0);
  return pid ?? 0;
}

describe.each([
  ['/proc', procIdentities],
  ['ps', psIdentities],
] as const)('identities by %s', (_name, identities) => {
  test('a process is alive while it is that very process', async () => {
    const pid = sleeper();
    const identity = await waitUntil(() => identities.identityOf(pid));
    expect(identity.pid).toBe(pid);
    expect(isAlive(identity, identities)).toBe(true);
    await killNow(pid);
    expect(isAlive(identity, identities)).toBe(false);
    expect(identities.identityOf(pid)).toBeNull();
  });

  test('another start of the same pid, and another boot, are another process', () => {
    const own = identities.identityOf(process.pid);
    if (!own) throw new Error('this process has no identity');
    expect(isAlive(own, identities)).toBe(true);
    expect(isAlive({ ...own, ticks: own.ticks - 1 }, identities)).toBe(false);
    expect(isAlive({ ...own, bootId: 'of another boot' }, identities)).toBe(false);
  });

  test('a stopped process is alive, a zombie is not', async () => {
    const pid = sleeper();
    const identity = await waitUntil(() => identities.identityOf(pid));
    signal(pid, 'SIGSTOP');
    await waitUntil(() => processState(pid) === 'T');
    expect(isAlive(identity, identities)).toBe(true);

    // Its parent never reaps: it is another program before the child ends, not a shell that might look.
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 1000'], { stdio: ['ignore', 'pipe', 'ignore'] });
    children.push(parent.pid ?? 0);
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const zombie = Number(line.toString());
    await waitUntil(() => processState(zombie) === 'Z', { what: 'a zombie' });
    expect(identities.identityOf(zombie)).toBeNull();
  });
});

test('the state is read behind the last bracket, whatever a process calls itself', () => {
  const stat = (name: string): string =>
    `17 (${name}) S 3 17 17 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 142018 2740224 222\n`;
  for (const name of ['sh', 'a) Z 9 (b', ') Z', 'two\nlines', '(((', '']) {
    expect(parseStat(stat(name))).toEqual({ state: 'S', parent: 3, group: 17, session: 17, ticks: 142018 });
  }
  expect(parseStat('')).toBeNull();
  expect(parseStat('17 (cut) S 3')).toBeNull();
});

test('the stat of this process names its parent', () => {
  expect(readStat(process.pid)?.parent).toBe(process.ppid);
});
