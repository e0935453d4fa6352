import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Envelope, ReceiptLine } from '#contract';
import { presentClis } from '../../scripts/real-clis.mjs';
import { removeFolder, tempFolder } from '../support/temp.js';
import { waitUntil } from '../support/wait-until.js';

const ROOT = new URL('../..', import.meta.url).pathname;

export type SimRequest = {
  event: 'request' | 'response';
  vendor: string;
  path: string;
  scenario?: string;
  model?: string;
};

export type Ran = { code: number | null; stdout: string; stderr: string };

/**
 * A scratch home whose lanes run the vendors' real CLIs against
 * a simulator of its own. Nothing of a real login is in reach.
 */
export type RealHome = {
  folder: string;
  work: string;
  cmo(args: string[], input?: string): Promise<Ran>;
  run(args: string[], prompt: string): Promise<{ code: number | null; envelope: Envelope }>;
  /** Requests to the models since the last reset. */
  requests(vendor: 'codex' | 'claude'): Promise<SimRequest[]>;
  admin(call: string, body: object): Promise<void>;
  receipts(): ReceiptLine[];
  /** Whole request bodies to the models that hold this text, in their order. */
  bodies(text: string): string[];
  stateDir: string;
  /** Of the person who types the commands. */
  env: Record<string, string>;
  /** Writes a file beside the work folder. @returns its path */
  file(name: string, text: string): string;
  close(): Promise<void>;
};

/**
 * Makes a lane of that kind with an account of its own; its session
 * files lie apart, so that no other account's meter reads them.
 */
type LaneApart = (kind: 'codex' | 'claude', name: string) => object;
type LaneMaker = (apart: LaneApart) => Record<string, object>;

/** @param moreLanes laid over the two lanes, or beside them */
export async function openRealHome(config: object = {}, moreLanes: LaneMaker = () => ({})): Promise<RealHome> {
  const clis = presentClis();
  if (!clis) throw new Error('the real CLIs are not in the cache');
  const folder = tempFolder('real');
  const [home, work, configDir, codexHome] = ['home', 'work', 'config', 'codex-home'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  for (const path of [home, work, configDir, codexHome]) mkdirSync(path);
  const dump = join(folder, 'requests');
  const sim = await startSim(dump);
  writeFileSync(join(codexHome, 'config.toml'), codexConfig(sim.url));
  const lanes = {
    codex: { env: { CODEX_HOME: codexHome, SIM_KEY: 'dummy' } },
    claude: { env: { ANTHROPIC_BASE_URL: sim.url, CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-dummy' } },
  };
  const apart: LaneApart = (kind, name) => {
    if (kind === 'claude') return { ...lanes.claude, kind };
    const own = join(folder, `codex-home-${name}`);
    mkdirSync(own);
    writeFileSync(join(own, 'config.toml'), codexConfig(sim.url));
    return { env: { ...lanes.codex.env, CODEX_HOME: own }, kind };
  };
  writeFileSync(
    join(configDir, 'config.json'),
    JSON.stringify({ lanes: { ...lanes, ...moreLanes(apart) }, ...config }),
  );
  const path = [
    dirname(clis.codex),
    dirname(clis.claude),
    dirname(process.execPath),
    '/usr/local/bin',
    '/usr/bin',
    '/bin',
  ].join(':');
  const stateDir = join(folder, 'state');
  const env = { PATH: path, HOME: home, CMO_CONFIG_DIR: configDir, CMO_STATE_DIR: stateDir, TERM: 'dumb' };

  const cmo = async (args: string[], input = ''): Promise<Ran> => {
    const child = spawn(process.execPath, [join(ROOT, 'dist/cmo.cjs'), ...args], { cwd: work, env, stdio: 'pipe' });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout, stderr };
  };

  return {
    folder,
    work,
    cmo,
    async run(args, prompt) {
      const { code, stdout, stderr } = await cmo(['run', '--json', ...args], prompt);
      if (!stdout.startsWith('{')) throw new Error(`cmo run answered ${code}: ${stdout}${stderr}`);
      return { code, envelope: JSON.parse(stdout) as Envelope };
    },
    async requests(vendor) {
      const all = (await (await fetch(`${sim.url}/__sim/requests`)).json()) as SimRequest[];
      return all.filter(
        (entry) => entry.event === 'request' && entry.vendor === vendor && /responses|messages/.test(entry.path),
      );
    },
    async admin(call, body) {
      await fetch(`${sim.url}/__sim/${call}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    },
    receipts() {
      const receipts = join(stateDir, 'receipts');
      if (!existsSync(receipts)) return [];
      return readdirSync(receipts).flatMap((name) =>
        readFileSync(join(receipts, name), 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as ReceiptLine),
      );
    },
    bodies(text) {
      const names = readdirSync(dump).sort((one, other) => parseInt(one, 10) - parseInt(other, 10));
      const requests = names
        .map((name) => readFileSync(join(dump, name), 'utf8'))
        .filter((body) => /"path": "[^"]*\/(responses|messages)[?"]/.test(body));
      return requests.filter((body) => body.includes(text));
    },
    stateDir,
    env,
    file(name, text) {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    },
    async close() {
      await cmo(['down', '--kill']);
      sim.child.kill('SIGTERM');
      removeFolder(folder);
    },
  };
}

async function startSim(dump: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [join(ROOT, 'test/vendor-sim/sim.mjs'), '--port', '0', '--dump', dump], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {},
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const line = await waitUntil(() => said.split('\n')[0], { what: 'the simulator to listen' });
  return { child, url: (JSON.parse(line) as { url: string }).url };
}

/** The built-in provider would open a WebSocket first and compress what it sends; a custom one speaks plain HTTP. */
function codexConfig(url: string): string {
  return `model_provider = "sim"
[model_providers.sim]
name = "sim"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "SIM_KEY"
request_max_retries = 1
stream_max_retries = 1
`;
}
