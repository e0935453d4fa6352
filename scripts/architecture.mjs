// The folder table of ARCHITECTURE.md, from scripts/folders.mjs, in the order in which a task goes through the folders.
// `node scripts/folders.mjs --write` rewrites it; the suite checks that it is up to date.

const WAY = [
  ['apps/cli', 'parses the command line, asks the daemon, prints'],
  ['apps/daemon', 'api and worker of a box in one process, beside a private Redis: how they start, hand over and stop'],
  ['apps/api', 'HTTP on a unix socket: takes tasks, answers questions'],
  ['libs/contract', 'the types of all data that passes between folders, and every error code'],
  [
    'libs/config',
    'reads and checks the configuration file, the environment and the paths; knows where each value came from',
  ],
  ['libs/policy', 'pure decisions with reasons: weight, tier, lane, next step, failure class, reset times'],
  ['libs/store', 'records and blobs in Redis, and every Redis key name'],
  ['libs/queue', 'the scripts that change a record (submit, start, deliver, move, cancel), and the start tickets'],
  ['libs/gate', 'reservations over the windows of an account; nothing else admits'],
  ['apps/worker', 'fetches tickets through the gate; starts, tends and adopts runs; repairs what a crash left'],
  ['libs/runner', 'run folders, claims, supervisors, process identities, marks'],
  ['libs/vendors', 'one folder per CLI: argv, environment, stream reader; and checks answers against a schema'],
  ['libs/probes', "works out what is really left, from codex's session files and claude's usage answers"],
  ['libs/receipts', 'the JSON lines that record what was run'],
];

const START = '<!-- folders: written by node scripts/folders.mjs --write -->\n';
const END = '<!-- /folders -->';

function folderTable(folders) {
  const missing = Object.keys(folders).filter((folder) => !WAY.some(([name]) => name === folder));
  if (missing.length > 0) throw new Error(`say in scripts/architecture.mjs what ${missing.join(', ')} does`);
  const rows = WAY.map(
    ([folder, does]) =>
      `| \`${folder}\` | ${does} | ${folders[folder].imports.map((to) => to.split('/')[1]).join(', ') || 'nothing'} |`,
  );
  return ['| folder | does | may import |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

/** The page with its table as it should be; `folders` as scripts/folders.mjs has them. */
export function withFolderTable(page, folders) {
  const [before, rest] = page.split(START);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error('ARCHITECTURE.md has lost the marks of its folder table');
  return `${before}${START}${folderTable(folders)}${END}${after}`;
}
