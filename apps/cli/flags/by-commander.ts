import { Command, CommanderError, Option } from 'commander';
import { errorBody, nearest, nearestText, type ErrorBody } from '#contract';
import type { Flags } from './flag.js';
import { quoted, wrongValues, type Usage } from './parse.js';
import type { Scanned } from './scan.js';

/** Every word that the quick scan does not take: help, what is wrong, and the rarer ways to say what is right. */
export function byCommander<F extends Flags>(
  usage: Usage<F>,
  argv: readonly string[],
): Scanned | { kind: 'help' } | { kind: 'refused'; error: ErrorBody } {
  const given = new Map<string, string[]>();
  const command = commanderOf(usage, (key, text) => given.set(key, [...(given.get(key) ?? []), text]));
  try {
    command.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return { kind: 'help' };
    return { kind: 'refused', error: refusal(usage, error) };
  }
  return { kind: 'scanned', given, words: command.args };
}

function commanderOf<F extends Flags>(usage: Usage<F>, take: (key: string, text: string) => void): Command {
  const command = new Command(usage.name)
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    .allowExcessArguments(true)
    .argument('[words...]');
  for (const [key, flag] of Object.entries(usage.flags)) {
    const names = flag.short === undefined ? flag.name : `${flag.short}, ${flag.name}`;
    const option = new Option(flag.value === null ? names : `${names} <${flag.value}>`);
    command.addOption(option);
    command.on(`option:${option.name()}`, (text: string | null) => take(key, text ?? ''));
  }
  return command;
}

function refusal<F extends Flags>(usage: Usage<F>, { code, message }: CommanderError): ErrorBody {
  const quotedWord = /'([^']*)'/.exec(message)?.[1] ?? '';
  const name = quotedWord.split(/[ =]/)[0] ?? quotedWord;
  const flag = Object.values(usage.flags).find((one) => one.name === name);
  if (code === 'commander.optionMissingArgument' && flag)
    return wrongValues(usage.name, [
      { flag: flag.name, seen: 'no value', allowed: `${flag.name} ${flag.value ?? ''}`, nearest: null },
    ]);
  if (code === 'commander.unknownOption') {
    if (flag)
      return wrongValues(usage.name, [
        { flag: flag.name, seen: quoted(quotedWord), allowed: `${flag.name} alone: it takes no value`, nearest: null },
      ]);
    const names = Object.values(usage.flags).map((one) => one.name);
    const near = nearest(name, names);
    return errorBody('CMO_E_USAGE', `cmo ${usage.name} has no flag ${name}${nearestText(near)}`, {
      details: [`saw: ${quotedWord}`, `allowed: ${names.join(' ')}`],
      fix: `see \`cmo help ${usage.name}\``,
    });
  }
  return errorBody('CMO_E_USAGE', message.replace(/^error: /, ''), { fix: `see \`cmo help ${usage.name}\`` });
}
