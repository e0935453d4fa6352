export { startWorker, type Worker, type WorkerOptions } from './worker.js';
export type { Log } from './resources.js';
