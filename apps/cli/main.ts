import { runCli } from './run-cli.js';

// runCli leaves by itself; should it ever come to nothing, that
// was no success. (No await: a bundle in CommonJS has none.)
process.exitCode = 1;
void runCli(process.argv.slice(2));
