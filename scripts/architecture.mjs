// The folder table of ARCHITECTURE.md, from scripts/folders.mjs, in the order in which a task goes through the folders.
// `node scripts/folders.mjs --write` rewrites it; the suite checks that it is up to date.

const WAY = [
  ['apps/cli', 'reads the words, asks the daemon, prints'],
  ['apps/daemon', 'one process for one box: private Redis, api and worker, and how they start, hand over and leave'],
  ['apps/api', 'HTTP on a unix socket: takes tasks, answers questions'],
  ['libs/contract', 'the words and types of everything that flows, and every error code'],
  ['libs/config', 'the configuration file, the environment and the folders: read, checked, each value with its origin'],
  ['libs/policy', 'weight, tier, lane, next step, failure classes, reset times: data in, data with reasons out'],
  ['libs/store', 'records and blobs in Redis, and every Redis name'],
  ['libs/queue', 'submit, start, deliver, move, cancel: the scripts that change a record, and the start tickets'],
  ['libs/gate', 'reservations over the windows of an account; the only thing that admits'],
  ['apps/worker', 'fetches through the gate, starts runs, tends them, adopts them, repairs what a crash left'],
  ['libs/runner', 'run folders, claims, supervisors, process identities, marks'],
  ['libs/vendors', 'one folder a CLI: argv, environment, stream reader; and answers that must fit a schema'],
  ['libs/probes', "what is really left: codex's session files, claude's usage answer"],
  ['libs/receipts', 'the lines that say what was run'],
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
