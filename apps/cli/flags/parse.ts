import { Command, CommanderError, Option } from 'commander';
import { errorBody, nearest, type ErrorBody } from '#contract';
import type { Flags, Values } from './flag.js';

export type Usage<F extends Flags> = {
  name: string;
  /** As the help shows it: `ID…`, `[FILE|-]`; empty when the command takes none. */
  words: { shown: string; min: number; max: number };
  flags: F;
};

export type Parsed<F extends Flags> = { kind: 'values'; values: Values<F>; words: string[] } | { kind: 'help' } | { kind: 'refused'; error: ErrorBody };

/** One thing on the command line that was not understood. */
export type Wrong = { flag: string; seen: string; allowed: string; nearest: string | null };

/**
 * The words after the command. Every wrong value is told at once. A flag given twice is refused unless it is made to
 * be repeated: of two values, one would be silently ignored.
 */
export function parse<F extends Flags>(usage: Usage<F>, argv: readonly string[]): Parsed<F> {
  const given = new Map<string, string[]>();
  const command = commanderOf(usage, (key, text) => given.set(key, [...(given.get(key) ?? []), text]));
  try {
    command.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return { kind: 'help' };
    return { kind: 'refused', error: refusal(usage, error) };
  }
  const values: Record<string, unknown> = {};
  const wrong: Wrong[] = [];
  for (const [key, flag] of Object.entries(usage.flags)) {
    const texts = given.get(key) ?? [];
    if (texts.length > 1 && !flag.repeats) wrong.push({ flag: flag.name, seen: `it ${texts.length} times`, allowed: 'it once', nearest: null });
    for (const text of texts) {
      const reading = flag.value !== null && looksLikeFlag(usage, text) ? { ok: false as const, allowed: `a value: ${flag.value}`, nearest: null } : flag.read(text);
      if (!reading.ok) wrong.push({ flag: flag.name, seen: quoted(text), allowed: reading.allowed, nearest: reading.nearest });
      else values[key] = flag.repeats ? [...((values[key] as unknown[] | undefined) ?? []), ...(reading.value as unknown[])] : reading.value;
    }
  }
  const words = command.args;
  const { min, max, shown } = usage.words;
  if (words.length < min) wrong.push({ flag: `cmo ${usage.name}`, seen: 'no word for it', allowed: shown, nearest: null });
  if (words.length > max) wrong.push({ flag: `cmo ${usage.name}`, seen: quoted(words[max] ?? ''), allowed: max === 0 ? 'flags only' : shown, nearest: null });
  return wrong.length > 0 ? { kind: 'refused', error: wrongValues(usage.name, wrong) } : { kind: 'values', values: values as Values<F>, words };
}

function commanderOf<F extends Flags>(usage: Usage<F>, take: (key: string, text: string) => void): Command {
  const command = new Command(usage.name).exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined }).allowExcessArguments(true).argument('[words...]');
  for (const [key, flag] of Object.entries(usage.flags)) {
    const names = flag.short === undefined ? flag.name : `${flag.short}, ${flag.name}`;
    const option = new Option(flag.value === null ? names : `${names} <${flag.value}>`);
    command.addOption(option);
    command.on(`option:${option.name()}`, (text: string | null) => take(key, text ?? ''));
  }
  return command;
}

/** `--model --json`: commander hands over the next word whatever it is. A value that begins so is written `--model=--json`, or better not at all. */
function looksLikeFlag<F extends Flags>({ flags }: Usage<F>, text: string): boolean {
  return Object.values(flags).some(({ name }) => text === name || text.startsWith(`${name}=`));
}

function refusal<F extends Flags>(usage: Usage<F>, { code, message }: CommanderError): ErrorBody {
  const quotedWord = /'([^']*)'/.exec(message)?.[1] ?? '';
  const name = quotedWord.split(/[ =]/)[0] ?? quotedWord;
  const flag = Object.values(usage.flags).find((one) => one.name === name);
  if (code === 'commander.optionMissingArgument' && flag) return wrongValues(usage.name, [{ flag: flag.name, seen: 'no value', allowed: `${flag.name} ${flag.value ?? ''}`, nearest: null }]);
  if (code === 'commander.unknownOption') {
    if (flag) return wrongValues(usage.name, [{ flag: flag.name, seen: quoted(quotedWord), allowed: `${flag.name} alone: it takes no value`, nearest: null }]);
    const names = Object.values(usage.flags).map((one) => one.name);
    const near = nearest(name, names);
    return errorBody('CMO_E_USAGE', `cmo ${usage.name} has no flag ${name}${near === null ? '' : `; nearest: ${near}`}`, {
      details: [`saw: ${quotedWord}`, `allowed: ${names.join(' ')}`],
      fix: `see \`cmo help ${usage.name}\``,
    });
  }
  return errorBody('CMO_E_USAGE', message.replace(/^error: /, ''), { fix: `see \`cmo help ${usage.name}\`` });
}

export function wrongLines(wrong: readonly Wrong[]): string[] {
  return wrong.map((one) => `${one.flag}: saw ${one.seen}; allowed: ${one.allowed}${one.nearest === null ? '' : `; nearest: ${one.nearest}`}`);
}

export function wrongValues(command: string, wrong: readonly Wrong[]): ErrorBody {
  const lines = wrongLines(wrong);
  const [first] = lines;
  const fix = `see \`cmo help ${command}\``;
  return lines.length === 1 && first !== undefined ? errorBody('CMO_E_UNKNOWN_VALUE', first, { fix }) : errorBody('CMO_E_UNKNOWN_VALUE', `${lines.length} values were not understood`, { details: lines, fix });
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}
