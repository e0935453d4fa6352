import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMANDS } from '#cli/commands/table';

const root = new URL('../../', import.meta.url).pathname;
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'docs/guides/tasks.md',
  'docs/guides/queue.md',
  'docs/guides/redis.md',
];
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');

/** What stands between backticks, and each line of a shell block without its comment. */
function commandsOf(text: string): string[] {
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block]) => (block ?? '').split('\n'));
  const inline = [...text.replaceAll(/```.*?```/gs, '').matchAll(/`([^`\n]+)`/g)].map(([, words]) => words ?? '');
  return [...blocks, ...inline].map((line) => line.replace(/\s+#.*/, '').trim());
}

/** The part that calls `program`, wherever it stands in a pipe or a list. */
function callsOf(text: string, program: string): string[][] {
  const start = new RegExp(`(?:^|[|&]\\s*)${program}(?: |$)`);
  return commandsOf(text)
    .flatMap((line) => line.split(/(?<=&&|\|)/))
    .map((part) => part.replace(/\s*(&&|\|)$/, '').trim())
    .filter((part) => start.test(part))
    .map((part) => part.slice(program.length).trim().split(/\s+/).filter(Boolean));
}

for (const page of pages) {
  test(`every npm script that ${page} names is there`, () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const [verb, name] of callsOf(read(page), 'npm')) {
      if (verb === 'run') expect(Object.keys(scripts)).toContain(name);
      else expect(['test', 'link', 'ci']).toContain(verb);
    }
  });

  test(`every cmo command and flag that ${page} names is there`, async () => {
    for (const [name = 'help', ...words] of callsOf(read(page), 'cmo')) {
      for (const one of name.split('/')) {
        const entry = COMMANDS.find((command) => command.name === one);
        expect(entry, `cmo ${one}`).toBeDefined();
        const flags = Object.values((await entry?.load())?.flags ?? {}).map((flag) => flag.name as string);
        for (const flag of words.filter((word) => word.startsWith('--')))
          expect(flags, `cmo ${one} ${flag}`).toContain(flag.split('=')[0]);
      }
    }
  });

  test(`every file and folder that ${page} names is there`, () => {
    const paths = [...read(page).matchAll(/(?:\(|`|node )((?:apps|libs|test|scripts|\.ci)\/[\w./-]+|[A-Z]+\.md)/g)].map(
      ([, path]) => path ?? '',
    );
    for (const path of paths) expect(existsSync(`${root}${path}`), path).toBe(true);
  });
}

test('the commands of the README are found at all', () => {
  expect(callsOf(read('README.md'), 'cmo').length).toBeGreaterThan(10);
  expect(callsOf('`cmo ls --x | cmo nothing`', 'cmo')).toEqual([['ls', '--x'], ['nothing']]);
});

test('the two commands of the README are its first ones', () => {
  expect([...read('README.md').matchAll(/```sh\n(.*?)\n/gs)].slice(0, 2).map(([, line]) => line)).toEqual([
    'npm run try',
    'npm test',
  ]);
});
