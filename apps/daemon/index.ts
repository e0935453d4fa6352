export { startDaemon, type Daemon, type DaemonParts, type DaemonStart } from './daemon.js';
