export { processEnvironment, type Environment } from './environment.js';
export { pathsOf, processPaths, SOCKET_PATH_BYTES, type Box, type Paths } from './paths.js';
export { folderProblem, makeOwnFolder } from './own-folder.js';
export {
  configError,
  configFrom,
  configOfValue,
  loadConfig,
  processOptions,
  type Loaded,
  type LoadOptions,
} from './load.js';
export { pathText, problemText, renderDiagnostics, type Diagnostics } from './diagnostics.js';
export { describeOrigin, type Origin, type Origins } from './origin.js';
export { configRows, shownValue, type ConfigRow } from './show.js';
export { fileShape } from './file-shape.js';
export { configSchema } from './config-schema.js';
export { isModelId, isName, isVariableName, parseDuration } from './values.js';
export type { Machine } from './resolve.js';
export type { Problem } from './shape.js';
