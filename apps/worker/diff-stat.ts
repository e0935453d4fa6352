import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { DiffStat } from '#contract';

const run = promisify(execFile);

/** Each call; a tree that takes longer has no numbers in its receipt, and no agent waits for them, ms. */
const BOUND_MS = 2_500;
const OUTPUT_MAX = 16 * 1024 * 1024;

/**
 * How far a git tree is from a commit: the commit that stood there `since`, else the one that does. Null: no git tree,
 * no commit, no git, or no answer in time.
 *
 * An agent may have written whatever it likes into the tree's own configuration, and this runs outside its sandbox:
 * nothing that a configuration could have git start (hooks, monitors, filters, external diffs, transports, submodules)
 * is let in.
 *
 * @param path where git is looked for
 */
export async function diffStat(cwd: string, path: string, since: string | null = null): Promise<DiffStat | null> {
  if (!insideGitTree(cwd)) return null;
  try {
    const git = await quietGit(cwd, path);
    const head = (await git(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).trim();
    const [changed, untracked] = await Promise.all([
      git([
        'diff',
        '--numstat',
        '-z',
        '--no-renames',
        '--no-ext-diff',
        '--no-textconv',
        '--ignore-submodules=all',
        since ?? head,
        '--',
      ]),
      git(['ls-files', '--others', '--exclude-standard', '--directory', '--no-empty-directory', '-z']),
    ]);
    return { head, ...sumOf(changed), untracked: untracked.split('\0').length - 1 };
  } catch {
    return null;
  }
}

/** A look at the folders, so that no git is started where there is nothing for it. */
function insideGitTree(cwd: string): boolean {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return true;
    if (dirname(folder) === folder) return false;
  }
}

async function quietGit(cwd: string, path: string): Promise<(args: string[]) => Promise<string>> {
  const base = {
    PATH: path,
    HOME: devNull,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
  };
  const call = async (args: string[], env: Record<string, string>): Promise<string> => {
    const { stdout } = await run('git', ['--no-pager', ...args], {
      cwd,
      env,
      timeout: BOUND_MS,
      killSignal: 'SIGKILL',
      maxBuffer: OUTPUT_MAX,
      encoding: 'utf8',
    });
    return stdout;
  };
  // Exit 1: there are none. The keys of a configuration can be anything, so they go by variables and never as `-c
  // key=value`.
  const filters = await call(
    ['config', '--name-only', '-z', '--get-regexp', '^filter\\..*\\.(clean|smudge|process|required)$'],
    base,
  ).catch((error: { code?: unknown }) => {
    if (error.code === 1) return '';
    throw error;
  });
  const pairs: [string, string][] = [
    ['core.fsmonitor', 'false'],
    ['core.hooksPath', devNull],
    ['core.untrackedCache', 'false'],
    ['diff.external', ''],
    ...filters
      .split('\0')
      .filter((key) => key !== '')
      .map((key): [string, string] => [key, key.endsWith('.required') ? 'false' : '']),
  ];
  const given = Object.fromEntries(
    pairs.flatMap(([key, value], i) => [
      [`GIT_CONFIG_KEY_${i}`, key],
      [`GIT_CONFIG_VALUE_${i}`, value],
    ]),
  );
  const env = { ...base, ...given, GIT_CONFIG_COUNT: String(pairs.length) };
  return (args) => call(args, env);
}

/** `<added>\t<deleted>\t<path>\0`, `-` for a binary file. */
function sumOf(numstat: string): Pick<DiffStat, 'files' | 'insertions' | 'deletions'> {
  const rows = numstat
    .split('\0')
    .filter((row) => row !== '')
    .map((row) => row.split('\t'));
  const sum = (column: number): number => rows.reduce((total, row) => total + (Number(row[column]) || 0), 0);
  return { files: rows.length, insertions: sum(0), deletions: sum(1) };
}
