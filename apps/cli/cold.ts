/**
 * What no shim pays for: these stand in a bundle of their own (scripts/bundles.mjs), loaded when first called.
 * Everything else of the CLI is one file that Node reads at once, for 250 shims each start it once a night.
 */
export { config } from './commands/config.js';
export { doctor } from './commands/doctor.js';
export { explain } from './commands/explain.js';
export { firstMinute } from './commands/first-minute.js';
export { help } from './commands/help.js';
export { service } from './commands/service.js';
export { replay } from './commands/replay.js';
export { selftest } from './commands/selftest.js';
export { byCommander } from './flags/by-commander.js';
export { buildBatch, withNames } from './request/build-batch.js';
export { planBatch } from './plan/plan-batch.js';
export { lanesWithout } from './plan/schema-lanes.js';
export { withReviewedVendor } from './request/reviewed.js';
export { ensureDaemon, readLastEnd, stopDaemon } from '#daemon/client';
