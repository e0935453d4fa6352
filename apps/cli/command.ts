import type { Environment, Paths } from '#config';
import type { Flags, Values } from './flags/flag.js';
import type { Output } from './output/streams.js';
import type { Paint } from './output/paint.js';

/** What a command gets from the process; the suite hands it the same. */
export type Context = {
  env: Environment;
  paths: Paths;
  cwd: string;
  output: Output;
  /** For stdout and for stderr. */
  paint: Paint;
  paintNotes: Paint;
  /** True: stdout carries JSON and nothing else, errors too. */
  json: boolean;
  /** `--json` was said (not only implied by a pipe). */
  jsonAsked: boolean;
  /** Milliseconds since the epoch. */
  now(): number;
};

/** One command, as data with one function. Its module is loaded only when it is called. */
export type Command<F extends Flags = Flags> = {
  name: string;
  summary: string;
  /** Words that are no flags. */
  words: { shown: string; min: number; max: number };
  flags: F;
  /** JSON when stdout is no terminal, or only when asked. */
  output: 'json-in-pipes' | 'human';
  /** Of its JSON: the flat envelope, or `{schema, ok, data | error}`. */
  schema: string;
  examples: readonly string[];
  notes?: readonly string[];
  /** The exit code. A CmoError is printed by the caller and gives its own. */
  run(input: { values: Values<F>; words: readonly string[] }, context: Context): Promise<number>;
};

/** Keeps the flags' types for `run`. */
export function command<const F extends Flags>(definition: Command<F>): Command<F> {
  return definition;
}
