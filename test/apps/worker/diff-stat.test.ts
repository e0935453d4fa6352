import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { diffStat } from '#worker/diff-stat';
import { tempFolder } from '../../support/temp.js';

const PATH = '/usr/local/bin:/usr/bin:/bin';
let repo: string;

function git(...args: string[]): string {
  const env = {
    PATH,
    HOME: repo,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  return execFileSync('git', args, { cwd: repo, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

beforeEach(() => {
  repo = tempFolder('repo');
  git('init', '-q');
  writeFileSync(join(repo, 'a.txt'), 'one\ntwo\nthree\n');
  git('add', '.');
  git('commit', '-qm', 'first');
});

test('counts files, lines and what git does not know, from a folder inside too', async () => {
  const head = git('rev-parse', 'HEAD');
  expect(await diffStat(repo, PATH)).toEqual({ head, files: 0, insertions: 0, deletions: 0, untracked: 0 });
  writeFileSync(join(repo, 'a.txt'), 'one\n2\nthree\nfour\n');
  mkdirSync(join(repo, 'new', 'deep'), { recursive: true });
  writeFileSync(join(repo, 'new', 'deep', 'b'), 'x');
  writeFileSync(join(repo, 'c ✓\n.txt'), 'x');
  const changed = { head, files: 1, insertions: 2, deletions: 1, untracked: 2 };
  expect(await diffStat(repo, PATH)).toEqual(changed);
  expect(await diffStat(join(repo, 'new', 'deep'), PATH)).toMatchObject({ files: 1, insertions: 2 });
});

test('counts what was committed meanwhile, from the commit it began with', async () => {
  const first = git('rev-parse', 'HEAD');
  writeFileSync(join(repo, 'a.txt'), 'one\n');
  writeFileSync(join(repo, 'binary'), Buffer.from([0, 1, 2]));
  git('add', '.');
  git('commit', '-qm', 'second');
  expect(await diffStat(repo, PATH, first)).toEqual({
    head: git('rev-parse', 'HEAD'),
    files: 2,
    insertions: 0,
    deletions: 2,
    untracked: 0,
  });
});

test('reports nothing if there is no tree, no commit or no git', async () => {
  expect(await diffStat(tempFolder('plain'), PATH)).toBeNull();
  expect(await diffStat(repo, '/nonexistent')).toBeNull();
  const empty = tempFolder('empty');
  execFileSync('git', ['init', '-q'], { cwd: empty });
  expect(await diffStat(empty, PATH)).toBeNull();
  expect(await diffStat(repo, PATH, 'no-such-commit')).toBeNull();
});

test('starts nothing that the tree’s own configuration names', async () => {
  const trap = join(repo, '.git', 'trap');
  const sprung = join(repo, '.git', 'sprung');
  writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >>'${sprung}'\ncat\n`);
  chmodSync(trap, 0o755);
  const keys = [
    'core.fsmonitor',
    'diff.external',
    'diff.odd.command',
    'diff.odd.textconv',
    'filter.odd.clean',
    'filter.odd.smudge',
    'filter.a=b.clean',
    'filter.proc.process',
    'core.pager',
    'core.editor',
    'core.askPass',
    'core.sshCommand',
  ];
  for (const key of keys) git('config', key, trap);
  for (const name of ['odd', 'a=b', 'proc']) git('config', `filter.${name}.required`, 'true');
  mkdirSync(join(repo, '.git', 'hooks'), { recursive: true });
  for (const hook of ['post-index-change', 'pre-commit', 'post-checkout', 'fsmonitor-watchman']) {
    writeFileSync(join(repo, '.git', 'hooks', hook), `#!/bin/sh\necho hook >>'${sprung}'\n`);
    chmodSync(join(repo, '.git', 'hooks', hook), 0o755);
  }
  writeFileSync(join(repo, '.gitattributes'), 'a.txt filter=odd diff=odd\nb.txt filter=a=b\nc.txt filter=proc\n');
  writeFileSync(join(repo, 'a.txt'), 'other\n');
  expect(await diffStat(repo, PATH)).toMatchObject({ files: 1, untracked: 1 });
  expect(existsSync(sprung)).toBe(false);
  // The traps are real: git itself springs them.
  git('diff');
  expect(existsSync(sprung)).toBe(true);
});

test('a submodule’s configuration is not looked at', async () => {
  const inner = join(repo, 'inner');
  mkdirSync(inner);
  const sprung = join(repo, 'sprung');
  execFileSync('git', ['init', '-q'], { cwd: inner });
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x'], {
    cwd: inner,
  });
  git('add', 'inner');
  git('commit', '-qm', 'with inner');
  writeFileSync(join(repo, 'trap'), `#!/bin/sh\ntouch '${sprung}'\n`);
  chmodSync(join(repo, 'trap'), 0o755);
  execFileSync('git', ['config', 'core.fsmonitor', join(repo, 'trap')], { cwd: inner });
  expect(await diffStat(repo, PATH)).toMatchObject({ files: 0 });
  expect(existsSync(sprung)).toBe(false);
});
