import { checkConfig } from './config-check.js';
import { checkDaemon } from './daemon-check.js';
import { checkRedis } from './redis-check.js';
import { fail, ok, type Check, type Row } from './row.js';
import { checkState } from './state-check.js';

const NEEDED_NODE = [20, 20, 2] as const;

/** What the box itself must have. The local things first, so that a broken Redis still yields a report. */
export const BOX_CHECKS: readonly Check[] = [
  { group: 'node', look: () => Promise.resolve([checkNode()]) },
  { group: 'state', look: (patient) => Promise.resolve(checkState(patient)) },
  { group: 'config', look: (patient) => Promise.resolve(checkConfig(patient)) },
  { group: 'redis', look: async (patient) => [await checkRedis(patient)] },
  { group: 'daemon', look: checkDaemon },
];

function checkNode(): Row {
  const seen = process.versions.node;
  const [major = 0, minor = 0, patch = 0] = seen.split('.').map((part) => Number.parseInt(part, 10));
  const [needMajor, needMinor, needPatch] = NEEDED_NODE;
  const enough =
    major > needMajor || (major === needMajor && (minor > needMinor || (minor === needMinor && patch >= needPatch)));
  return enough
    ? ok('node', `Node ${seen}`)
    : fail(
        'node',
        `Node ${seen}; cmo needs ${NEEDED_NODE.join('.')} or newer`,
        'install a newer Node, for example `nvm install 22`',
      );
}
