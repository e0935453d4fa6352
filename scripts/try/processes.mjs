// Which processes belong to a temp folder, and their end. The folder's name is random, so whoever has it in its command
// line, its environment or as its cwd was started for it.
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

const GRACE_MS = 3_000;

/** Ids, never our own. Empty where there is no /proc. */
export function processesOf(folder) {
  return entries('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) =>
      [read(`/proc/${name}/cmdline`), read(`/proc/${name}/environ`), link(`/proc/${name}/cwd`)].some((text) =>
        text.includes(folder),
      ),
    )
    .map(Number);
}

/** TERM, a grace, KILL: each by its id. */
export async function endProcesses(list) {
  for (const name of ['SIGTERM', 'SIGKILL']) {
    for (const pid of list().filter(isAlive)) send(pid, name);
    const until = performance.now() + GRACE_MS;
    while (list().some(isAlive)) {
      if (performance.now() > until) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function isAlive(pid) {
  const stat = read(`/proc/${pid}/stat`);
  if (stat !== '') return !/[ZX]/.test(stat[stat.lastIndexOf(')') + 2]);
  return send(pid, 0);
}

export function send(pid, name) {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

const entries = (folder) => quietly(() => readdirSync(folder), []);
const read = (file) => quietly(() => readFileSync(file, 'utf8'), '');
const link = (file) => quietly(() => readlinkSync(file), '');

/** Processes leave while we look. */
function quietly(look, otherwise) {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
