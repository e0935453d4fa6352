export { identityOf, isAlive, ownIdentity, type ProcessIdentity } from './process-identity.js';
export { attemptMark, endMarked, findMarked, supervisorMark, type Ended, type EndOptions } from './marks.js';
export type { ProcessSelection } from './process-table.js';
export {
  readLock,
  take,
  type HeldLock,
  type LockFields,
  type LockOptions,
  type LockOwner,
  type RefusedLock,
} from './lock-file.js';
export { flawOf, MAX_DEADLINE_MS, planId, type RunPlan } from './run-plan.js';
export {
  askCancel,
  findRun,
  isCancelAsked,
  isDelivered,
  listRuns,
  makeRun,
  markDelivered,
  readPlan,
  readReceipt,
  removeHalfMade,
  removeRun,
  runFiles,
  runPath,
  setAsideRun,
  spoiltPart,
  writeReceipt,
  type MadeRun,
  type RunPaths,
  type RunInput,
} from './run-folder.js';
export { CLAIM_LOST, readClaim, voidClaim, type Claim } from './claim.js';
export { readStatus, type ExitRecord, type RunningFacts, type RunStatus } from './run-status.js';
export { forkHere, type Fork, type ForkRequest, type Spawned } from './fork.js';
export { openForkServer, type ForkServer } from './fork-server.js';
export { spawnSupervisor, startSupervisor, type Started, type StartInput } from './start-supervisor.js';
export { nodeSupervisor, probeSupervisor, shellSupervisor, type SupervisorKind } from './supervisor-kind.js';
export { cutSpool, openSpool, type Spool, type SpoolOptions } from './spool.js';
export { watchFolder, type FolderWatch, type WatchOptions } from './watch-folder.js';
export { findExecutable } from './find-executable.js';
// Not here: cli-version.ts, which brings execa; import it as #runner/cli-version.
