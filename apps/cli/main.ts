import { runCli } from './run-cli.js';

// runCli exits by itself; if it ever returns without doing so, that is a failure. (No await: a CommonJS bundle has no
// top-level await.)
process.exitCode = 1;
void runCli(process.argv.slice(2));
