export { appendReceipt, monthOf } from './append.js';
export { dispatchLine } from './dispatch-line.js';
export { payAllOwed, payOldOwed, payOwed, type Outbox } from './owed.js';
export { listReceipts, readReceipts, type ReadOptions, type ReceiptFilter } from './read.js';
