// What a codex probe costs against the size of the session file: `npm run bench -- probe [GIB]`.
// Each case is one call in a process of its own; memory is the growth of its peak over the idle process.
// Budget (issue 4): a 1 GiB file with 256 KB lines under 1 s and 64 MB. The files are removed at the end.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = new URL('..', import.meta.url).pathname;
const now = Date.UTC(2026, 10, 20, 3, 15);
const size = Number(process.argv[2] ?? 1) * 1024 ** 3;
const line = `${JSON.stringify({
  timestamp: '2026-11-20T03:14:00.000Z',
  type: 'event_msg',
  payload: {
    type: 'token_count',
    info: null,
    rate_limits: {
      limit_id: 'codex',
      primary: { used_percent: 25, window_minutes: 300, resets_at: now / 1000 + 7200 },
    },
  },
})}\n`;
const fat = 256 * 1024;
const CASES = [
  ['small file', {}],
  ['all of it before the reading, 256 KB lines', { padBefore: { bytes: size, lineBytes: fat } }],
  [
    'the same, and 6 MiB in 2 MiB lines after it',
    { padBefore: { bytes: size, lineBytes: fat }, padAfter: { bytes: 6 * 1024 ** 2, lineBytes: 2 * 1024 ** 2 } },
  ],
  ['all of it after the reading, 256 KB lines', { padAfter: { bytes: size, lineBytes: fat } }],
  ['all of it after the reading, 1 KB lines', { padAfter: { bytes: size, lineBytes: 1024 } }],
];

const CHILD = `
const { readCodexSessions } = await import(process.argv[1]);
const query = { roots: [process.argv[2]], account: 'codex', now: ${now} };
await new Promise((done) => setTimeout(done, 50));
const idle = process.resourceUsage().maxRSS;
const from = performance.now();
const probe = await readCodexSessions(query);
const ms = performance.now() - from;
process.stdout.write(JSON.stringify({ ms, mb: (process.resourceUsage().maxRSS - idle) / 1024, percent: probe.reading?.windows[0]?.usedPercent ?? probe.reason }));
`;

const folder = mkdtempSync(join(tmpdir(), 'cmo-bench-probe-'));
try {
  const common = {
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    conditions: ['cmo-source'],
    absWorkingDir: root,
    outExtension: { '.js': '.mjs' },
    outdir: folder,
  };
  await build({
    ...common,
    entryPoints: { probes: 'libs/probes/index.ts', 'lay-out-files': 'apps/cli/explain/lay-out-files.ts' },
  });
  const { layOutFiles } = await import(pathToFileURL(join(folder, 'lay-out-files.mjs')).href);
  for (const [name, pads] of CASES) {
    const home = join(folder, 'home');
    const laid = await layOutFiles(
      [
        {
          path: 'sessions/2026/11/20/rollout-2026-11-20T02-50-00-0a1b.jsonl',
          mtime: '2026-11-20T03:14:00Z',
          text: line,
          ...pads,
        },
      ],
      home,
    );
    if (!laid.ok) throw new Error(laid.error);
    const runs = [1, 2, 3].map(() =>
      JSON.parse(
        execFileSync(
          process.execPath,
          ['--input-type=module', '-e', CHILD, join(folder, 'probes.mjs'), join(home, 'sessions')],
          { encoding: 'utf8' },
        ),
      ),
    );
    const best = runs.sort((a, b) => a.ms - b.ms)[1];
    console.log(
      `${name.padEnd(46)} ${best.ms.toFixed(1).padStart(8)} ms  ${best.mb.toFixed(1).padStart(6)} MB  reading ${best.percent}`,
    );
    rmSync(home, { recursive: true, force: true });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
