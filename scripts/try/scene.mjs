// A box of its own for one try: state, configuration and home
// in a temp folder, the daemon that lives there, and its end.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findOnPath } from '../setup/command.mjs';
import { endProcesses, processesOf } from './processes.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const CMO = join(root, 'dist/cmo.cjs');

export function openScene() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cmo-try-')));
  const at = (name) => join(folder, name);
  for (const name of ['home', 'work', 'config']) mkdirSync(at(name));
  const children = new Set();
  const pids = new Set();
  let closing = null;

  const scene = {
    folder,
    work: at('work'),
    /** The environment of a person who has nothing: no login, no keys, no configuration. */
    env: {
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: at('home'),
      TMPDIR: tmpdir(),
      TERM: process.env.TERM ?? 'dumb',
      CMO_STATE_DIR: at('state'),
      CMO_CONFIG_DIR: at('config'),
      CMO_CACHE_DIR: at('cache'),
    },
    configure: (config) => writeFileSync(at('config/config.json'), JSON.stringify(config, null, 2)),

    /** Runs the built CLI. `stdio` inherit shows its words; else they are collected. */
    cmo(args, { input = '', cwd = at('work'), env = scene.env, inherit = false } = {}) {
      if (closing) return Promise.resolve({ code: 130, out: '', err: '' });
      return new Promise((resolve, reject) => {
        const child = spawn(process.execPath, [CMO, ...args], {
          cwd,
          env,
          stdio: ['pipe', inherit ? 'inherit' : 'pipe', inherit ? 'inherit' : 'pipe'],
        });
        children.add(child);
        let out = '';
        let err = '';
        child.stdout?.on('data', (bytes) => (out += bytes));
        child.stderr?.on('data', (bytes) => (err += bytes));
        child.stdin.on('error', () => undefined);
        child.stdin.end(input);
        child.once('error', reject);
        child.once('close', (code) => {
          children.delete(child);
          resolve({ code: code ?? 130, out, err });
        });
      });
    },
    /** The JSON that it printed, whatever the exit code; throws with its words when there is none. */
    async ask(args, options) {
      const { code, out, err } = await scene.cmo([...args, '--json'], options);
      try {
        return JSON.parse(out);
      } catch {
        throw new Error(`\`cmo ${args.join(' ')}\` answered no JSON (exit ${code})\n${err}`);
      }
    },
    /** Remembers what runs now, for boxes where it can't be found by its folder. */
    async status() {
      const { data } = await scene.ask(['status']);
      for (const pid of [data.pid, data.redis?.pid]) if (pid) pids.add(pid);
      return data;
    },
    /** Ends all that was started here and removes the folder. Safe to call twice. */
    close() {
      closing ??= end();
      return closing;
    },
  };

  async function end() {
    for (const child of children) child.kill('SIGTERM');
    // By the CLI first, since that also ends the agents in the right order; then whatever is left, by its id.
    spawnSync(process.execPath, [CMO, 'down', '--kill'], {
      env: scene.env,
      cwd: root,
      stdio: 'ignore',
      timeout: 20_000,
    });
    await endProcesses(() => [...new Set([...processesOf(folder), ...pids])]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  return scene;
}

/** The vendor's CLI on the person's PATH, if it starts; a broken one is no reason to fail here. */
export function installedCli(id, env) {
  const command = findOnPath(id);
  if (command === null) return null;
  const { status } = spawnSync(command, ['--version'], { env, stdio: 'ignore', timeout: 20_000 });
  return status === 0 ? command : null;
}

export const standIn = (id) => join(root, 'test/fixtures/bin', id);
