export { appendReceipt } from './append.js';
export { dispatchLine } from './dispatch-line.js';
export { payOldOwed, payOwed, type Outbox } from './owed.js';
