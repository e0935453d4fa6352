// One at a time: two `npm test` started together must not install into one node_modules at once.
//
// The lock is a file that is created exclusively and names its owner (pid, and where /proc tells, the pid's start time,
// so that a re-used pid is not taken for the owner). The lock of an owner that is gone is taken over; the take-over has
// an exclusive file of its own, because two waiters may find the dead owner at the same moment and the slower one would
// remove the quicker one's new lock.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { say } from './command.mjs';

const EVERY_MS = 200;
const TAKE_OVER_MS = 10_000;

/** Runs `work` while holding the lock. `what` is said once when somebody else has it. */
export async function withLock(file, what, work) {
  mkdirSync(dirname(file), { recursive: true });
  let told = false;
  while (!tryLock(file)) {
    if (!told) say(`waiting for another run to finish ${what}`);
    told = true;
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.removeListener('exit', release);
    release();
  }
}

function tryLock(file) {
  if (createExclusively(file, `${process.pid} ${startOf(process.pid)}`)) return true;
  if (!isAbandoned(file)) return false;
  const takeOver = `${file}.take-over`;
  if (!createExclusively(takeOver, String(process.pid))) {
    if (ageOf(takeOver) > TAKE_OVER_MS) rmSync(takeOver, { force: true });
    return false;
  }
  try {
    if (isAbandoned(file)) rmSync(file, { force: true });
  } finally {
    rmSync(takeOver, { force: true });
  }
  return createExclusively(file, `${process.pid} ${startOf(process.pid)}`);
}

function createExclusively(file, text) {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function isAbandoned(file) {
  const owner = readText(file);
  if (owner === null) return false;
  // Created, but its owner has not written its name yet; if it never does, it died in between.
  if (owner === '') return ageOf(file) > TAKE_OVER_MS;
  const [pid, start] = owner.split(' ');
  return !isAlive(Number(pid)) || startOf(Number(pid)) !== start;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Clock ticks from boot to the start of the process, or `-` where there is no /proc. */
function startOf(pid) {
  const stat = readText(`/proc/${pid}/stat`);
  return stat === null ? '-' : (stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-');
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function ageOf(file) {
  try {
    return Date.now() - statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}
