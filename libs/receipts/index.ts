export { appendReceipt } from './append.js';
