import { CmoError, errorBody, ERRORS, nearest } from '#contract';
import { command, type Command } from '../command.js';
import { table } from '../output/table.js';
import { COMMANDS } from './table.js';

const TOPICS = ['exit-codes', 'environment'] as const;

export const help = command({
  name: 'help',
  summary: 'help on a command, exit-codes or environment',
  words: { shown: '[COMMAND | exit-codes | environment]', min: 0, max: 1 },
  flags: {},
  output: 'human',
  schema: 'cmo.help/1',
  examples: ['cmo help run', 'cmo help exit-codes'],
  async run({ words }, { output }) {
    const [about] = words;
    for (const line of await helpText(about)) output.line(line);
    return 0;
  },
});

async function helpText(about: string | undefined): Promise<string[]> {
  if (about === undefined) return overview();
  if (about === 'exit-codes') return exitCodes();
  if (about === 'environment') return environment();
  const entry = COMMANDS.find(({ name }) => name === about);
  if (entry) return commandHelp(await entry.load());
  const allowed = [...COMMANDS.map(({ name }) => name), ...TOPICS];
  const near = nearest(about, allowed);
  throw new CmoError(errorBody('CMO_E_USAGE', `no help on ${JSON.stringify(about.slice(0, 80))}${near === null ? '' : `; nearest: ${near}`}`, { details: [`allowed: ${allowed.join(' ')}`], fix: '`cmo help`' }));
}

function overview(): string[] {
  const groups = [...new Set(COMMANDS.map(({ group }) => group))];
  return [
    'cmo: run agent tasks on the Claude and Codex subscriptions that you have, up to their windows and not past them',
    '',
    ...groups.flatMap((group) => [`${group}:`, ...table(COMMANDS.filter((one) => one.group === group).map(({ name, summary }) => [`  ${name}`, summary])), '']),
    'cmo help COMMAND tells a command’s flags; cmo help exit-codes, cmo help environment',
  ];
}

function commandHelp({ name, summary, words, flags, examples, notes, output }: Command): string[] {
  const rows = Object.values(flags).map((flag) => [`  ${flag.short === undefined ? '' : `${flag.short}, `}${flag.name}${flag.value === null ? '' : ` ${flag.value}`}`, flag.help]);
  const usage = ['cmo', name, words.max > 0 ? words.shown : '', rows.length > 0 ? '[flags]' : ''].filter(Boolean).join(' ');
  return [
    `${usage}: ${summary}`,
    ...(rows.length > 0 ? ['', ...table(rows)] : []),
    '',
    ...(output === 'json-in-pipes' ? ['Prints JSON when stdout is no terminal, text when it is.'] : []),
    ...(rows.some(([flag]) => flag?.includes(' ', 3)) ? ['--flag value and --flag=value are the same; a flag given twice is refused, unless it says that it may be repeated.'] : []),
    ...(notes ?? []),
    '',
    ...examples.map((example) => `  ${example}`),
  ];
}

function exitCodes(): string[] {
  return table([
    ['0', 'succeeded; listings that could answer'],
    ['1', 'failed, timed out, interrupted, cancelled by someone else; doctor with a failed row; explain with an unreadable input'],
    ['2', 'refused before it was recorded: a flag, the configuration, the schema file, the folder, the role'],
    ['3', 'deferred or expired: no window had room in time'],
    ['4', 'no login or no CLI for the only lanes that are permitted'],
    ['5', 'the daemon or its Redis can not be reached or started'],
    ['6', 'of several, at least one did not succeed'],
    ['7', 'the wait ran out; the dispatch goes on'],
    ['130', 'interrupted with Ctrl-C'],
  ]).concat('', 'Every error has a code; these are they:', ...table(Object.entries(ERRORS).map(([code, { exit, message }]) => [`  ${code}`, String(exit), message])));
}

function environment(): string[] {
  return table([
    ['CMO_STATE_DIR', 'what must outlive a reboot (default $XDG_STATE_HOME/cross-model-orchestrate, ~/.local/state/…)'],
    ['CMO_CONFIG_DIR', 'the folder of config.json (default $XDG_CONFIG_HOME/…, ~/.config/…)'],
    ['CMO_CACHE_DIR', 'what may be deleted (default $XDG_CACHE_HOME/…, ~/.cache/…)'],
    ['CMO_REDIS_URL', 'a Redis of your own, instead of the private one'],
    ['CMO_NODE_ID', 'the name of this box (default: its host name)'],
    ['CMO_PREFER', 'the lane that goes first'],
    ['CMO_<LANE>_<TIER>', 'the model of a tier: CMO_CODEX_FAST, CMO_CLAUDE_FRONTIER, …'],
    ['CMO_CODEX_SESSIONS', "codex's session files (default $CODEX_HOME/sessions, ~/.codex/sessions)"],
    ['CMO_CLAUDE_CREDENTIALS', "claude's credentials file (default $CLAUDE_CONFIG_DIR/.credentials.json, ~/.claude/…)"],
    ['CMO_FLEET_URL, CMO_FLEET_TOKEN', 'the coordinator of several boxes'],
    ['NO_COLOR, FORCE_COLOR, CI', 'no colours; colours; no progress line'],
  ]).concat('', '`cmo config show --origin` says which of them count now.');
}
