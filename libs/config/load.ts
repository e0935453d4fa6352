import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism, homedir, hostname } from 'node:os';
import { errorBody, type Config, type ErrorBody } from '#contract';
import { diagnosticsOf, renderDiagnostics, type Diagnostics } from './diagnostics.js';
import { processEnvironment, type Environment } from './environment.js';
import { fileShape } from './file-shape.js';
import { readJson } from './json-text.js';
import type { Origins } from './origin.js';
import { processPaths } from './paths.js';
import { resolve, type Machine } from './resolve.js';
import { problem, type Path, type Problem } from './shape.js';
import { fileSource } from './sources.js';

export type Loaded =
  | {
      ok: true;
      config: Config;
      origins: Origins;
      /** Misspelt variables, and keys that nothing acts on yet: shown, never fatal. */
      warnings: Problem[];
      /** Null: there is no file. */
      file: string | null;
    }
  | { ok: false; diagnostics: Diagnostics };

export type LoadOptions = { file: string; env: Environment; machine: Machine };

/**
 * What people write has some thousands. One of millions is some other file: its keys would take a minute to look at, a
 * long text in it more stack than there is.
 */
const MOST_CHARACTERS = 256 * 1024;

/** Reads the one file and the environment. Every problem of both is in the answer; with any, there is no config. */
export function loadConfig(options: LoadOptions = processOptions()): Loaded {
  const { file } = options;
  let text: string | null = null;
  try {
    const bytes = readRegular(file);
    if (bytes === null) return refused(file, problem([], 'a folder, a pipe or a device', 'a readable file'));
    // Signs that stand for what could not be read would go on as part of a name or a path.
    if (!isUtf8(bytes)) return refused(file, problem([], 'a text that is not UTF-8', 'one JSON object in UTF-8'));
    text = bytes.toString();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      return refused(file, problem([], `a file that can't be read (${code ?? 'unknown'})`, 'a readable file'));
  }
  return configFrom(text, options);
}

/** Null: not a regular file. A pipe would keep every command waiting for a writer that may never come. */
function readRegular(file: string): Buffer | null {
  const open = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return fstatSync(open).isFile() ? readFileSync(open) : null;
  } finally {
    closeSync(open);
  }
}

/** The same from a text that was read already (null: no file). */
export function configFrom(text: string | null, { file, env, machine }: LoadOptions): Loaded {
  if (text === null) return configOf(NO_FILE, { file, env, machine, hasFile: false });
  if (text.length > MOST_CHARACTERS)
    return refused(file, problem([], `a text of ${text.length} characters`, `at most ${MOST_CHARACTERS} of them`));
  const json = readJson(text);
  if (json.ok) return configOf(json, { file, env, machine, hasFile: true });
  const what = `text that is not JSON: ${json.why} (column ${json.column})`;
  return refused(file, { ...problem([], what, 'one JSON object'), line: json.line });
}

/**
 * A configuration given as a value, over the defaults alone: what `cmo explain` makes of an input's own `config`. The
 * box and the environment have no say in it.
 */
export function configOfValue(value: unknown, source: string): Loaded {
  const machine = { home: '/', hostname: 'localhost', cores: 1 };
  return configOf({ ...NO_FILE, value }, { file: source, env: {}, machine, hasFile: true });
}

type Parsed = { value: unknown; lineOf(path: Path): number | null; twice: Path[] };

const NO_FILE: Parsed = { value: {}, lineOf: () => null, twice: [] };

function refused(file: string, only: Problem): Loaded {
  return { ok: false, diagnostics: diagnosticsOf([file, [only]]) };
}

function configOf(
  { value, lineOf, twice }: Parsed,
  { file, env, machine, hasFile }: LoadOptions & { hasFile: boolean },
): Loaded {
  const shapeProblems = twice.map((path) => problem(path, 'a duplicate key', 'each key once'));
  const content = fileShape.read(value, [], shapeProblems) ?? {};
  const { config, origins, fileProblems, environmentProblems, warnings } = resolve(
    fileSource(file, content, lineOf),
    env,
    machine,
  );
  const withLines = [...shapeProblems, ...fileProblems].map((problem) => ({
    ...problem,
    line: problem.line ?? lineOf(problem.path),
  }));
  const diagnostics = diagnosticsOf([file, withLines], ['environment', environmentProblems]);
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  return {
    ok: true,
    config,
    origins,
    warnings: warnings.map((one) => ({ ...one, line: lineOf(one.path) })),
    file: hasFile ? file : null,
  };
}

export function processOptions(env: Environment = processEnvironment()): LoadOptions {
  return {
    file: processPaths(env).configFile,
    env,
    machine: { home: env['HOME'] || homedir(), hostname: hostname(), cores: availableParallelism() },
  };
}

/** The refusal that every program gives for a configuration with problems. */
export function configError(diagnostics: Diagnostics): ErrorBody {
  const count = diagnostics.reduce((sum, { problems }) => sum + problems.length, 0);
  return errorBody('CMO_E_CONFIG', `the configuration has ${count === 1 ? 'an error' : `${count} errors`}`, {
    details: renderDiagnostics(diagnostics),
  });
}
