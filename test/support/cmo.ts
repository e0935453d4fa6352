import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Answer, Envelope, ListData, ReceiptLine, ShowData, StatusData, SubmitData } from '#contract';
import { standInLane } from '../../scripts/try/lanes.mjs';
import { peakOf, readLedger, startsPerAttempt, type LedgerLine } from './ledger.js';
import { onLeave } from './on-leave.js';
import { isAlive, killNow, processesOf, processesWith, signal, type MarkedProcess } from './processes.js';
import { removeFolder, tempFolder } from './temp.js';
import { waitUntil } from './wait-until.js';

const ROOT = new URL('../../', import.meta.url).pathname;
const PROGRAM = join(ROOT, 'dist/cmo.cjs');
const STAND_INS = join(ROOT, 'test/fixtures/bin');

export type CmoOptions = {
  /** Which stand-in of test/fixtures/bin plays each CLI (an absolute path is taken as it is); null: not installed. */
  clis?: { codex?: string | null; claude?: string | null };
  /** Merged over the configuration file, top level; `lanes` member by member. */
  config?: Record<string, unknown> & { lanes?: Record<string, object> };
  /** Of the person who types the commands. */
  env?: Record<string, string>;
  /** The program that is typed; default dist/cmo.cjs. */
  program?: (folder: string) => string;
  /** Makes the state folder's path; default `<folder>/state`. */
  state?: (folder: string) => string;
};

export type Ran = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };
export type RunOptions = { input?: string; cwd?: string; env?: Record<string, string> };
export type Started = { child: ChildProcess; pid: number; ended: Promise<Ran> };

/**
 * A person's box: a scratch home with the built `cmo`, stand-ins as its CLIs, and a private daemon when one is needed.
 */
export type Cmo = {
  folder: string;
  work: string;
  stateDir: string;
  configFile: string;
  env: Record<string, string>;
  start(args: string[], options?: RunOptions): Started;
  cmo(args: string[], options?: RunOptions): Promise<Ran>;
  /** `cmo … --json`, parsed; throws with stderr when it printed no JSON. */
  ask<T>(args: string[], options?: RunOptions): Promise<T>;
  run(prompt: string, ...flags: string[]): Promise<Envelope>;
  submit(prompt: string, ...flags: string[]): Promise<string>;
  wait(id: string): Promise<Envelope>;
  show(id: string): Promise<ShowData>;
  ls(...flags: string[]): Promise<ListData['dispatches']>;
  status(): Promise<StatusData>;
  /** By what runs, not by what answers. */
  daemonPids(): number[];
  redisPids(): number[];
  /** As the run folder of the attempt names them. */
  runPids(attemptId: string): { supervisor: number; cli: number };
  killDaemon(): Promise<void>;
  killRedis(): Promise<void>;
  /** Everything of this box at once, agents included. */
  killAll(): Promise<void>;
  ledger(): LedgerLine[];
  starts(): Record<string, number>;
  peak(): number;
  receipts(): ReceiptLine[];
  attemptLines(id: string): Extract<ReceiptLine, { kind: 'attempt' }>[];
  dispatchLines(id: string): Extract<ReceiptLine, { kind: 'dispatch' }>[];
  /** Living processes of this box's dispatch, or of one attempt (`<id>.<n>`). */
  marked(id: string): MarkedProcess[];
  /** `cmo down --kill`, then whatever is left, by its pid, then the folder. */
  close(): Promise<void>;
};

export function openCmo(options: CmoOptions = {}): Cmo {
  if (!existsSync(PROGRAM))
    throw new Error('dist/cmo.cjs is not built: `npm test` builds it, or node scripts/build.mjs');
  const folder = tempFolder('cmo');
  const at = (name: string): string => join(folder, name);
  const program = options.program?.(folder) ?? PROGRAM;
  for (const name of ['home', 'work', 'config', 'bin']) mkdirSync(at(name));
  const stateDir = options.state?.(folder) ?? at('state');
  const configFile = at('config/config.json');
  const ledgerFile = at('ledger.jsonl');
  writeFileSync(configFile, JSON.stringify(configuration(folder, options), null, 2));
  const env: Record<string, string> = {
    PATH: [at('bin'), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: at('home'),
    TERM: 'dumb',
    CMO_STATE_DIR: stateDir,
    CMO_CONFIG_DIR: at('config'),
    CMO_CACHE_DIR: at('cache'),
    ...options.env,
  };
  onLeave(() => processesOf(folder).forEach(({ pid }) => signal(pid, 'SIGKILL')));

  const start = (args: string[], { input = '', cwd = at('work'), env: more = {} }: RunOptions = {}): Started => {
    const child = spawn(process.execPath, [program, ...args], { cwd, env: { ...env, ...more }, stdio: 'pipe' });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    // It may leave before it has read its prompt.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    const ended = new Promise<Ran>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, name) => resolve({ code, signal: name, stdout, stderr }));
    });
    return { child, pid: child.pid ?? 0, ended };
  };
  const cmo = (args: string[], more?: RunOptions): Promise<Ran> => start(args, more).ended;
  const ask = async <T>(args: string[], more?: RunOptions): Promise<T> => {
    const { code, stdout, stderr } = await cmo([...args, '--json'], more);
    try {
      return JSON.parse(stdout) as T;
    } catch {
      throw new Error(`cmo ${args.join(' ')} printed no JSON (exit ${code}): ${stdout}${stderr}`);
    }
  };
  const data = async <T>(args: string[], more?: RunOptions): Promise<T> => {
    const answer = await ask<Answer<T>>(args, more);
    if (!answer.ok) throw new Error(`cmo ${args.join(' ')}: ${JSON.stringify(answer.error)}`);
    return answer.data;
  };
  const pidsOf = (pattern: RegExp): number[] =>
    processesOf(folder)
      .filter(({ command }) => pattern.test(command))
      .map(({ pid }) => pid);
  const daemonPids = (): number[] => pidsOf(/\/daemon\.mjs( |$)/);
  const redisPids = (): number[] => pidsOf(/^\S*(redis|valkey)-server /);
  const killEach = async (pids: number[]): Promise<void> => {
    // All first, then wait: nobody gets to notice that another has died.
    for (const pid of pids) signal(pid, 'SIGKILL');
    await Promise.all(pids.map(killNow));
  };

  return {
    folder,
    work: at('work'),
    stateDir,
    configFile,
    env,
    start,
    cmo,
    ask,
    run: (prompt, ...flags) => ask<Envelope>(['run', ...flags], { input: prompt }),
    async submit(prompt, ...flags) {
      const [envelope] = (await data<SubmitData>(['submit', ...flags], { input: prompt })).dispatches;
      if (!envelope) throw new Error('cmo submit answered no dispatch');
      return envelope.dispatchId;
    },
    wait: (id) => ask<Envelope>(['wait', id]),
    show: (id) => data<ShowData>(['show', id]),
    ls: async (...flags) => (await data<ListData>(['ls', '--limit', '10000', ...flags])).dispatches,
    status: () => data<StatusData>(['status']),
    daemonPids,
    redisPids,
    runPids(attemptId) {
      const { pid, cliPid } = JSON.parse(readFileSync(join(stateDir, 'runs', attemptId, 'run.json'), 'utf8')) as {
        pid: number;
        cliPid: number;
      };
      return { supervisor: pid, cli: cliPid };
    },
    killDaemon: () => killEach(daemonPids()),
    killRedis: () => killEach(redisPids()),
    killAll: () => killEach(processesOf(folder).map(({ pid }) => pid)),
    ledger: () => readLedger(ledgerFile),
    starts: () => startsPerAttempt(readLedger(ledgerFile)),
    peak: () => peakOf(readLedger(ledgerFile)),
    receipts: () => readReceipts(join(stateDir, 'receipts')),
    attemptLines: (id) =>
      readReceipts(join(stateDir, 'receipts')).flatMap((line) =>
        line.kind === 'attempt' && line.dispatch === id ? [line] : [],
      ),
    dispatchLines: (id) =>
      readReceipts(join(stateDir, 'receipts')).flatMap((line) =>
        line.kind === 'dispatch' && line.id === id ? [line] : [],
      ),
    marked: (id) => processesWith().filter(({ mark }) => mark === id || mark.startsWith(`${id}.`)),
    async close() {
      await cmo(['down', '--kill']);
      await killEach(processesOf(folder).map(({ pid }) => pid));
      await waitUntil(() => !processesOf(folder).some(({ pid }) => isAlive(pid)), {
        what: `the processes of ${folder} to leave`,
      });
      if (process.env['CMO_TEST_KEEP'] !== '1') removeFolder(folder);
    },
  };

  function configuration(home: string, { clis = {}, config = {} }: CmoOptions): object {
    const { lanes = {}, ...rest } = config;
    const lane = (id: 'codex' | 'claude'): object => {
      const name = clis[id] === undefined ? id : clis[id];
      if (name !== null) executable(join(home, 'bin', id), name.startsWith('/') ? name : join(STAND_INS, name));
      return { ...standInLane(id, name === null ? join(home, 'bin', id) : id, home), ...lanes[id] };
    };
    return { ...rest, lanes: { ...lanes, codex: lane('codex'), claude: lane('claude') } };
  }
}

/** The stand-ins find their parts beside them, so a symbolic link would not do. */
function executable(path: string, target: string): void {
  writeFileSync(path, `#!/bin/sh\nexec '${target}' "$@"\n`);
  chmodSync(path, 0o755);
}

function readReceipts(folder: string): ReceiptLine[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as ReceiptLine),
  );
}
