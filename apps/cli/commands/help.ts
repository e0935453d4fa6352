import { CmoError, errorBody, ERRORS, nearest, nearestText } from '#contract';
import { command, type Command } from '../command.js';
import { ENVIRONMENT, EXIT_CODES } from '../help-tables.js';
import { OUTPUT_FLAGS } from '../flags/flag.js';
import { printData } from '../output/json.js';
import { table, wrapped } from '../output/table.js';
import { COMMANDS } from './table.js';

const TOPICS = ['exit-codes', 'environment'] as const;

export const help = command({
  name: 'help',
  summary: 'help on a command, exit-codes or environment',
  words: { shown: '[COMMAND | exit-codes | environment]', min: 0, max: 1 },
  flags: { ...OUTPUT_FLAGS },
  output: 'human',
  schema: 'cmo.help/1',
  examples: ['cmo help run', 'cmo help exit-codes', 'cmo help run --json'],
  async run({ words }, context) {
    const [about] = words;
    // Help on a command that prints JSON in pipes is for a person all the same, unless it was asked for.
    if (context.jsonAsked) printData(context, 'cmo.help/1', await helpData(about));
    else for (const line of await helpText(about, context.output.columns)) context.output.line(line);
    return 0;
  },
});

/** The same for a program: of one command its flags, of none the commands. */
async function helpData(about: string | undefined): Promise<object> {
  if (about === undefined)
    return { commands: COMMANDS.map(({ name, group, summary }) => ({ name, group, summary })), topics: TOPICS };
  if (about === 'exit-codes')
    return {
      exitCodes: EXIT_CODES.map(([code, when]) => ({ code: Number(code), when })),
      errors: Object.entries(ERRORS).map(([code, { exit, message, fix }]) => ({ code, exit, message, fix })),
    };
  if (about === 'environment') return { variables: ENVIRONMENT.map(([name, what]) => ({ name, what })) };
  const { name, summary, words, flags, output, schema, notes = [], examples } = await loaded(about);
  return {
    name,
    summary,
    words: words.max === 0 ? null : words.shown,
    flags: Object.values(flags).map((flag) => ({
      name: flag.name,
      short: flag.short ?? null,
      value: flag.value,
      help: flag.help,
    })),
    json: { schema, inPipes: output === 'json-in-pipes' },
    notes,
    examples,
  };
}

async function helpText(about: string | undefined, columns: number | null): Promise<string[]> {
  if (about === undefined) return overview(columns);
  if (about === 'exit-codes') return exitCodes(columns);
  if (about === 'environment') return environment(columns);
  return commandHelp(await loaded(about), columns);
}

async function loaded(about: string): Promise<Command> {
  const entry = COMMANDS.find(({ name }) => name === about);
  if (entry) return entry.load();
  const allowed = [...COMMANDS.map(({ name }) => name), ...TOPICS];
  const near = nearest(about, allowed);
  throw new CmoError(
    errorBody('CMO_E_USAGE', `no help on ${JSON.stringify(about.slice(0, 80))}${nearestText(near)}`, {
      details: [`allowed: ${allowed.join(' ')}`],
      fix: '`cmo help`',
    }),
  );
}

function overview(columns: number | null): string[] {
  const groups = [...new Set(COMMANDS.map(({ group }) => group))];
  return [
    ...wrapped(
      'cmo: run agent tasks on the Claude and Codex subscriptions that you have, up to their windows and not past them',
      columns,
    ),
    '',
    ...groups.flatMap((group) => [
      `${group}:`,
      ...table(
        COMMANDS.filter((one) => one.group === group).map(({ name, summary }) => [`  ${name}`, summary]),
        columns,
      ),
      '',
    ]),
    'cmo help COMMAND shows its flags; see also cmo help exit-codes and cmo help environment',
  ];
}

function commandHelp(
  { name, summary, words, flags, examples, notes = [], output }: Command,
  columns: number | null,
): string[] {
  const rows = Object.values(flags).map((flag) => [
    `  ${flag.short === undefined ? '' : `${flag.short}, `}${flag.name}${flag.value === null ? '' : ` ${flag.value}`}`,
    flag.help,
  ]);
  const usage = ['cmo', name, words.max > 0 ? words.shown : '', rows.length > 0 ? '[flags]' : '']
    .filter(Boolean)
    .join(' ');
  const said = [
    ...(output === 'json-in-pipes' ? ['Prints JSON when stdout is no terminal, text when it is.'] : []),
    ...(rows.some(([flag]) => flag?.includes(' ', 3))
      ? [
          '--flag value and --flag=value are the same; a flag given twice is refused, unless its help says that it may be repeated.',
        ]
      : []),
    ...notes,
  ];
  return [
    ...wrapped(`${usage}: ${summary}`, columns),
    ...(rows.length > 0 ? ['', ...table(rows, columns)] : []),
    ...(said.length > 0 ? ['', ...said.flatMap((text) => wrapped(text, columns))] : []),
    '',
    ...examples.map((example) => `  ${example}`),
  ];
}

function exitCodes(columns: number | null): string[] {
  return table(EXIT_CODES, columns).concat(
    '',
    'Every error has one of these codes, with this exit code:',
    ...table(
      Object.entries(ERRORS).map(([code, { exit, message }]) => [`  ${code}`, String(exit), message]),
      columns,
    ),
  );
}

function environment(columns: number | null): string[] {
  return table(ENVIRONMENT, columns).concat('', '`cmo config show --origin` shows which of them are in effect.');
}
