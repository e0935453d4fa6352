// What a start of cmo costs over a start of Node: `npm run bench -- start-up [ROUNDS]`. Wall time of whole
// processes, interleaved; medians, and lower quartiles, since the
// box is shared and quiet moments are what can be compared.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const rounds = Number(process.argv[2] ?? 15);
const folder = mkdtempSync(join(tmpdir(), 'cmo-bench-'));
const env = {
  PATH: `${join(root, 'test/fixtures/bin')}:${process.env.PATH}`,
  HOME: folder,
  CMO_STATE_DIR: join(folder, 'state'),
};
const cmo = join(root, 'dist/cmo.cjs');
const cases = {
  'node -e 0': ['-e', '0'],
  'cmo plan': [cmo, 'plan', '--role', 'judge', '--json'],
  'cmo ls': [cmo, 'ls', '--json'],
  'cmo limits': [cmo, 'limits', '--json'],
  'cmo limits --line': [cmo, 'limits', '--line'],
  'cmo submit': [cmo, 'submit', '--json', '--prompt', 'hi', '--role', 'research'],
};

function once(args) {
  const began = performance.now();
  const { status } = spawnSync(process.execPath, args, { env, cwd: folder, stdio: ['ignore', 'ignore', 'ignore'] });
  const wall = performance.now() - began;
  return { wall, status };
}

mkdirSync(env.CMO_STATE_DIR, { mode: 0o700 });
try {
  spawnSync(process.execPath, [cmo, 'up'], { env, stdio: 'ignore' });
  const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
  const codes = {};
  for (let i = 0; i < rounds; i++) {
    for (const [name, args] of Object.entries(cases)) {
      const { wall, status } = once(args);
      times[name].push(wall);
      codes[name] = status;
    }
  }
  const sorted = (name) => [...times[name]].sort((a, b) => a - b);
  const at = (list, share) => list[Math.floor((list.length - 1) * share)];
  const floor = sorted('node -e 0');
  for (const name of Object.keys(cases)) {
    const list = sorted(name);
    const ratio = (share) => (at(list, share) / at(floor, share)).toFixed(2);
    console.log(
      `${name.padEnd(20)} exit ${codes[name]}  median ${at(list, 0.5).toFixed(0)} ms, ${ratio(0.5)} × node; lower quartile ${ratio(0.25)} ×`,
    );
  }
} finally {
  spawnSync(process.execPath, [cmo, 'down', '--kill'], { env, stdio: 'ignore' });
  rmSync(folder, { recursive: true, force: true });
}
