// Runs a program whose silence means that it hangs. A test process that spins without end answers no timeout of the
// test runner, and the runner waits for it for ever; a suite that never ends says nothing.
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { say } from '../setup/command.mjs';

/**
 * Resolves to the exit code; 124 when it was ended, with all its
 * descendants, because it printed nothing for `silenceMs`.
 */
export function runWatched(command, args, silenceMs) {
  return new Promise((resolve) => {
    // Through a pipe, the program no longer sees the terminal.
    const env = process.stdout.isTTY ? { ...process.env, FORCE_COLOR: '1' } : process.env;
    const child = spawn(command, args, { stdio: ['inherit', 'pipe', 'inherit'], env });
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      say(`${command} printed nothing for ${Math.round(silenceMs / 1000)} s: it hangs, and is ended`);
      for (const pid of [child.pid, ...descendantsOf(child.pid)]) end(pid);
    }, silenceMs);
    child.stdout.on('data', (bytes) => {
      timer.refresh();
      process.stdout.write(bytes);
    });
    child.once('error', () => {
      clearTimeout(timer);
      resolve(127);
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      resolve(hung ? 124 : (code ?? 128));
    });
  });
}

function descendantsOf(ancestor) {
  const children = new Map();
  for (const [pid, parent] of processes()) children.set(parent, [...(children.get(parent) ?? []), pid]);
  const found = [...(children.get(ancestor) ?? [])];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/** [pid, parent's pid] of everything; nothing where there is no /proc. */
function processes() {
  const names = (() => {
    try {
      return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    } catch {
      return [];
    }
  })();
  return names.flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      return [[Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])]];
    } catch {
      return [];
    }
  });
}

function end(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has left meanwhile.
  }
}
