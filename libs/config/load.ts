import { readFileSync } from 'node:fs';
import { availableParallelism, homedir, hostname } from 'node:os';
import { errorBody, type Config, type ErrorBody } from '#contract';
import { diagnosticsOf, renderDiagnostics, type Diagnostics } from './diagnostics.js';
import { processEnvironment, type Environment } from './environment.js';
import { fileShape } from './file-shape.js';
import { readJson } from './json-text.js';
import type { Origins } from './origin.js';
import { processPaths } from './paths.js';
import { resolve, type Machine } from './resolve.js';
import type { Path, Problem } from './shape.js';
import { fileSource } from './sources.js';

export type Loaded =
  | {
      ok: true;
      config: Config;
      origins: Origins;
      /** Misspelt variables, keys that nothing acts on: told, never fatal. */ warnings: Problem[];
      /** Null: there is no file. */ file: string | null;
    }
  | { ok: false; diagnostics: Diagnostics };

export type LoadOptions = { file: string; env: Environment; machine: Machine };

/** Reads the one file and the environment. Every problem of both is in the answer; with any, there is no config. */
export function loadConfig(options: LoadOptions = processOptions()): Loaded {
  const { file } = options;
  let text: string | null = null;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      return {
        ok: false,
        diagnostics: diagnosticsOf([
          file,
          [bare(`a file that can't be read (${code ?? 'unknown'})`, 'a readable file')],
        ]),
      };
  }
  return configFrom(text, options);
}

/** The same from a text that was read already (null: no file). */
export function configFrom(text: string | null, { file, env, machine }: LoadOptions): Loaded {
  const json = text === null ? { ok: true as const, value: {}, lineOf: () => null, twice: [] } : readJson(text);
  if (!json.ok)
    return {
      ok: false,
      diagnostics: diagnosticsOf([
        file,
        [{ ...bare(`text that is not JSON: ${json.why} (column ${json.column})`, 'one JSON object'), line: json.line }],
      ]),
    };
  return configOf(json, { file, env, machine, hasFile: text !== null });
}

/**
 * A configuration given as a value, over the defaults alone: what `cmo explain` makes of an input's own `config`.
 * The box and the environment have no say in it.
 */
export function configOfValue(value: unknown, source: string): Loaded {
  const machine = { home: '/', hostname: 'localhost', cores: 1 };
  return configOf({ value, lineOf: () => null, twice: [] }, { file: source, env: {}, machine, hasFile: true });
}

type Parsed = { value: unknown; lineOf(path: Path): number | null; twice: Path[] };

function configOf(
  { value, lineOf, twice }: Parsed,
  { file, env, machine, hasFile }: LoadOptions & { hasFile: boolean },
): Loaded {
  const shapeProblems: Problem[] = twice.map((path) => ({
    path,
    seen: 'a key that stands twice',
    expected: 'it once',
    nearest: null,
    line: null,
  }));
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
  return diagnostics.length > 0
    ? { ok: false, diagnostics }
    : {
        ok: true,
        config,
        origins,
        warnings: warnings.map((one) => ({ ...one, line: lineOf(one.path) })),
        file: hasFile ? file : null,
      };
}

function bare(seen: string, expected: string): Problem {
  return { path: [], seen, expected, nearest: null, line: null };
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
