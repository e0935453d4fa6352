import { CmoError, errorBody, nearest, nearestText, VERSION, type ErrorBody } from '#contract';
import { processEnvironment } from '#config/environment';
import { processPaths } from '#config/paths';
import type { Command, Context } from './command.js';
import { COMMANDS, type Entry } from './commands/table.js';
import { parse } from './flags/parse.js';
import { errorText, exitOfError } from './output/error-text.js';
import { printError } from './output/json.js';
import { paintFor } from './output/paint.js';
import { processOutput, type Output } from './output/streams.js';

/**
 * One call of `cmo`: finds the command, hands it its words, and sets the exit code. Nothing it meets ends in a trace.
 */
export async function runCli(argv: readonly string[]): Promise<void> {
  const output = processOutput();
  const jsonAsked = argv.includes('--json');
  const code = await dispatch(argv, contextOf(output, { jsonAsked, json: jsonAsked }));
  await output.flushed();
  // A command may leave while a poll or a start is still under way: nothing of it is needed here any more.
  process.exit(code);
}

function contextOf(output: Output, { jsonAsked, json }: { jsonAsked: boolean; json: boolean }): Context {
  const env = processEnvironment();
  return {
    env,
    paths: processPaths(env),
    cwd: currentFolder(),
    output,
    get paint() {
      return paintFor(output.stdoutIsTerminal);
    },
    get paintNotes() {
      return paintFor(output.stderrIsTerminal);
    },
    json,
    jsonAsked,
    now: Date.now,
  };
}

async function dispatch(argv: readonly string[], context: Context): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined) return (await import('./commands/first-minute.js')).firstMinute(context);
  if (first === '--version' || first === '-V') {
    context.output.line(VERSION);
    return 0;
  }
  if (first === '--help' || first === '-h') return call('help', rest, context);
  if (first.startsWith('-')) return flagFirst(argv, context);
  return call(first, rest, context);
}

/**
 * `cmo --json ls` is understood; any other flag in front would leave its value standing where the command should be.
 */
function flagFirst(argv: readonly string[], context: Context): Promise<number> {
  const at = argv.findIndex((word) => !['--json', '--human'].includes(word));
  const name = argv[at];
  if (at > 0 && name !== undefined && !name.startsWith('-'))
    return call(name, [...argv.slice(at + 1), ...argv.slice(0, at)], context);
  return Promise.resolve(
    refuse(
      context,
      'cmo.error/1',
      errorBody('CMO_E_USAGE', `flags come after the command; saw ${JSON.stringify(argv[0])} first`, {
        fix: '`cmo help` lists the commands',
      }),
    ),
  );
}

async function call(name: string, argv: readonly string[], context: Context): Promise<number> {
  const entry = COMMANDS.find((candidate) => candidate.name === name);
  if (!entry) return refuse(context, 'cmo.error/1', unknownCommand(name));
  const command = await entry.load();
  const parsed = await parse(command, argv);
  const inPipe = command.output === 'json-in-pipes' && !context.output.stdoutIsTerminal && !argv.includes('--human');
  const settled = contextOf(context.output, { jsonAsked: context.jsonAsked, json: context.jsonAsked || inPipe });
  switch (parsed.kind) {
    case 'help':
      return showHelp(entry, settled);
    case 'refused':
      return refuse(settled, command.schema, parsed.error);
    case 'values': {
      if (settled.jsonAsked && argv.includes('--human'))
        return refuse(
          settled,
          command.schema,
          errorBody('CMO_E_UNSATISFIABLE', '--json and --human together', { fix: 'say one of them' }),
        );
      return guarded(command, () => command.run(parsed, settled), settled);
    }
  }
}

async function showHelp(entry: Entry, context: Context): Promise<number> {
  const { help } = await import('./commands/help.js');
  return help.run({ values: {}, words: [entry.name] }, context);
}

async function guarded(command: Command, run: () => Promise<number>, context: Context): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof CmoError) return refuse(context, command.schema, error.body);
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return refuse(
      context,
      command.schema,
      errorBody('CMO_E_BUG', 'this is a bug in cmo', { details: text.split('\n').slice(0, 12) }),
    );
  }
}

/** On stderr for a person always, on stdout as JSON for the program that asked. */
function refuse(context: Context, schema: string, error: ErrorBody): number {
  context.output.note(errorText(error, context.paintNotes, context.now()));
  if (context.json) printError(context, schema, error);
  return exitOfError(error);
}

function unknownCommand(name: string): ErrorBody {
  const names = COMMANDS.map((command) => command.name);
  const near = nearest(name, names);
  return errorBody('CMO_E_USAGE', `cmo has no command ${JSON.stringify(name.slice(0, 80))}${nearestText(near)}`, {
    details: [`allowed: ${names.join(' ')}`],
    fix: '`cmo help` says what each does',
  });
}

/** A folder that was removed under the shell has no name any more. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return '/';
  }
}
