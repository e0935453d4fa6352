export { BLOB_KINDS, gateKeys, keys, LAYOUT_VERSION, queueName, scriptKeys, type BlobKind } from './keys.js';
export { evaluate, evaluateJson, script, type Script } from './script.js';
export { connect, type ConnectionKind, type RedisAddress } from './connect.js';
export { changedFields, parseRecord, recordFields, type Fields } from './record-fields.js';
export { openRecords, type Records } from './records.js';
export { watchChanges, type Changes } from './changes.js';
export { recordLua } from './lua.js';
