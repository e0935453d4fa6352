export { appendReceipt, monthOf } from './append.js';
export { BALLAST_BYTES, dropBallast, layBallast } from './ballast.js';
export { forgetReceipts, type MonthFile } from './retention.js';
export { payAllOwed, payOldOwed, payOwed, type Outbox } from './owed.js';
export { listReceipts, readReceipts, type ReadOptions, type ReceiptFilter } from './read.js';
