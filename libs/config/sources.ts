import { nearest } from '#contract';
import type { Environment } from './environment.js';
import type { ConfigFile } from './file-shape.js';
import { byDefault, type Given, type Merge } from './merge.js';
import type { Origin } from './origin.js';
import { problem, type Path, type Problem, type Shape } from './shape.js';

/** The file, checked; `origin` names a key of it with its line. */
export type FileSource = {
  content: ConfigFile;
  problems: Problem[];
  given<T>(path: Path, value: T | undefined): Given<T>;
  origin(path: Path): Origin;
};

export function fileSource(file: string, content: ConfigFile, lineOf: (path: Path) => number | null): FileSource {
  const origin = (path: Path): Origin => ({ from: 'file', file, key: path.join('.'), line: lineOf(path) });
  return { content, problems: [], origin, given: (path, value) => ({ value, origin: origin(path) }) };
}

/**
 * The value of a key, and of the source that spoke last: its default, then the file, then `over`. `path` is the key's
 * place in the file; none of the keys read with it holds a dot.
 */
export type Setting = <T>(path: string, fallback: T, value: T | undefined, ...over: Given<T>[]) => T;

export function settingOf(merge: Merge, file: FileSource): Setting {
  return (path, fallback, value, ...over) =>
    merge.pick(path, byDefault(fallback), file.given(path.split('.'), value), ...over);
}

/**
 * The environment, each variable checked by the shape of the key that it stands for. A variable set to nothing counts
 * as unset: `CMO_PREFER= cmo …` is how a shell takes one back.
 */
export class EnvironmentSource {
  readonly problems: Problem[] = [];
  private readonly known = new Set<string>(OTHER_VARIABLES);
  private readonly env: Environment;

  constructor(env: Environment) {
    this.env = env;
  }

  given<T>(variable: string, shape: Shape<T>): Given<T> {
    this.known.add(variable);
    const text = this.env[variable];
    return {
      value: text ? shape.read(text, [variable], this.problems) : undefined,
      origin: { from: 'environment', variable },
    };
  }

  /** Variables that begin like ours and that nothing reads: most likely misspelt, but perhaps another tool's. */
  unread(): Problem[] {
    return Object.keys(this.env)
      .filter((name) => name.startsWith('CMO_') && !this.known.has(name) && !/^CMO_(TEST|SIM|BENCH|LIVE)_/.test(name))
      .sort()
      .map((name) =>
        problem([name], 'a variable that nothing reads', 'a variable that cmo reads', nearest(name, this.known)),
      );
  }
}

/**
 * Read elsewhere: folders by paths.ts, the mark of an attempt by the CLI; the last is the older tool's and has no
 * effect.
 */
const OTHER_VARIABLES = ['CMO_STATE_DIR', 'CMO_CONFIG_DIR', 'CMO_CACHE_DIR', 'CMO_ATTEMPT', 'CMO_NO_SIGNAL_TRAP'];
