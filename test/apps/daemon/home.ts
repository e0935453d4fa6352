import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Answer, DispatchRequest, Envelope, StatusData } from '#contract';
import { pathsOf, type Paths } from '#config';
import { ensureDaemon, lookForDaemon, stopDaemon, type Ensured } from '#daemon/client';
import { serversOnFolder } from '#daemon/redis/servers-on-folder';
import { isAlive, killNow, processesWith } from '../../support/processes.js';
import { newId } from '../../support/records.js';
import { onLeave } from '../../support/on-leave.js';
import { removeFolder, tempFolder } from '../../support/temp.js';

const STAND_INS = new URL('../../fixtures/bin', import.meta.url).pathname;

/** A scratch home with a state folder, stand-in CLIs on PATH, and real daemons started as the CLI starts them. */
export type Home = {
  folder: string;
  work: string;
  paths: Paths;
  env: Record<string, string>;
  up(): Promise<Ensured>;
  /** Up, or a thrown error. */
  ready(): Promise<Extract<Ensured, { ok: true }>>;
  get<T>(path: string): Promise<Answer<T>>;
  post<T>(path: string, body: unknown): Promise<Answer<T>>;
  submit(prompt: string, more?: Partial<DispatchRequest>): Promise<Envelope>;
  ended(id: string): Promise<Envelope>;
  status(): Promise<StatusData>;
  daemonPid(): Promise<number | null>;
  redisPids(): number[];
  /** All that was started here is ended, by its pid. */
  close(): Promise<void>;
};

export type HomeOptions = {
  config?: object;
  state?: (folder: string) => string;
  env?: Record<string, string>;
  path?: string;
};

export function openHome({ config = {}, state, env: more = {}, path }: HomeOptions = {}): Home {
  const folder = tempFolder('home');
  const work = join(folder, 'work');
  mkdirSync(work);
  const stateDir = state?.(folder) ?? join(folder, 'state');
  const env = {
    HOME: folder,
    PATH: path ?? `${STAND_INS}:${process.env['PATH'] ?? ''}`,
    CMO_STATE_DIR: stateDir,
    CMO_CONFIG_DIR: join(folder, 'config'),
    CMO_NODE_ID: 'test-node',
    TMPDIR: folder,
    ...more,
  };
  mkdirSync(env.CMO_CONFIG_DIR);
  const ledger = { CMO_TEST_LEDGER: join(folder, 'ledger.jsonl') };
  const lanes = { codex: { env: ledger }, claude: { env: ledger } };
  writeFileSync(
    join(env.CMO_CONFIG_DIR, 'config.json'),
    JSON.stringify({ lanes, timing: { restartGraceMs: 0 }, ...config }),
  );
  const paths = pathsOf(env, { home: folder, temp: env.TMPDIR });
  const daemonPid = async (): Promise<number | null> => {
    const seen = await lookForDaemon(paths);
    return seen.kind === 'none' ? null : seen.daemon.pid;
  };
  const redisPids = (): number[] => serversOnFolder(paths.redis);
  const ours = (): number[] => [
    ...redisPids(),
    ...processesWith(stateDir, 'CMO_STATE_DIR')
      .map(({ pid }) => pid)
      .filter((pid) => pid !== process.pid),
  ];
  onLeave(() => ours().forEach((pid) => process.kill(pid, 'SIGKILL')));

  const home: Home = {
    folder,
    work,
    paths,
    env,
    up: () => ensureDaemon(paths, undefined, { env, readyMs: 40_000 }),
    async ready() {
      const ensured = await home.up();
      if (!ensured.ok) throw new Error(JSON.stringify(ensured.error));
      return ensured;
    },
    get: (url) => call(paths.apiSocket, 'GET', url),
    post: (url, body) => call(paths.apiSocket, 'POST', url, body),
    async submit(prompt, rest = {}) {
      const dispatch: DispatchRequest = {
        id: newId(),
        prompt,
        cwd: work,
        env: { PATH: env.PATH, HOME: folder, CMO_STATE_DIR: stateDir },
        ...rest,
      };
      const answer = await home.post<{ dispatches: Envelope[] }>('/v1/dispatches', { dispatches: [dispatch] });
      if (!answer.ok) throw new Error(JSON.stringify(answer.error));
      const [envelope] = answer.data.dispatches;
      if (!envelope) throw new Error('no envelope');
      return envelope;
    },
    async ended(id) {
      const answer = await home.get<Envelope>(`/v1/dispatches/${id}?wait=40000`);
      if (!answer.ok) throw new Error(JSON.stringify(answer.error));
      return answer.data;
    },
    async status() {
      const answer = await home.get<StatusData>('/v1/status');
      if (!answer.ok) throw new Error(JSON.stringify(answer.error));
      return answer.data;
    },
    daemonPid,
    redisPids,
    async close() {
      await stopDaemon(paths, { kill: true, leaveMs: 15_000 });
      for (let left = ours(); left.length > 0; left = ours())
        for (const pid of left) if (isAlive(pid)) await killNow(pid);
      removeFolder(folder);
    },
  };
  return home;
}

export function call<T>(socketPath: string, method: string, path: string, body?: unknown): Promise<Answer<T>> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const sent = request({ socketPath, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Answer<T>));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(text);
  });
}
