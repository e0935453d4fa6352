/**
 * The side of the daemon that others load: nothing of Fastify, ioredis, pino or execa stands behind it (a test looks).
 */
export { ensureDaemon, type Ensured, type EnsureOptions } from './client/ensure-daemon.js';
export { stopDaemon, type Stopped } from './client/stop-daemon.js';
export { readLastEnd, type LastEnd } from './last-end.js';
export { readStartupError } from './startup-error.js';
export { daemonCommand, daemonProgram } from './client/spawn-daemon.js';
export { lookForDaemon, type DaemonSeen } from './client/look-for-daemon.js';
