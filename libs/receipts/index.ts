export { appendReceipt, monthOf, type Appended } from './append.js';
export { listReceipts, readReceipts, type ReadOptions, type ReceiptFilter } from './read.js';
