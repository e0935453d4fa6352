export { runCli } from './run-cli.js';
export { COMMANDS } from './commands/table.js';
