// docs/reference: what programs and people hold cmo to, written from the code that does it. `node
// scripts/reference.mjs` writes the files anew; the suite checks that they
// are up to date, so no page can promise what the code does not keep.
import { mkdtempSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { toJSONSchema } from 'zod/mini';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'docs/reference');
const WRITTEN = 'Written by `node scripts/reference.mjs`.';

const SOURCES = `
export { SCHEMAS } from '#contract/schemas/index';
export { ERRORS } from '#contract';
export { configSchema } from '#config/config-schema';
export { COMMANDS } from '#cli/commands/table';
export { ENVIRONMENT, EXIT_CODES } from '#cli/help-tables';
`;

/** The modules as they stand in the working tree, whatever dist holds. */
async function sources() {
  const outdir = mkdtempSync(join(tmpdir(), 'cmo-reference-'));
  try {
    const banner =
      "import { createRequire as cmoCreateRequire } from 'node:module'; const require = cmoCreateRequire(import.meta.url);";
    await build({
      stdin: { contents: SOURCES, resolveDir: root, loader: 'ts' },
      absWorkingDir: root,
      outfile: join(outdir, 'sources.mjs'),
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      conditions: ['cmo-source'],
      loader: { '.lua': 'text', '.sh': 'text' },
      banner: { js: banner },
      logLevel: 'warning',
    });
    return await import(pathToFileURL(join(outdir, 'sources.mjs')).href);
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

/** @returns file name → text */
export async function referenceFiles() {
  const { SCHEMAS, ERRORS, configSchema, COMMANDS, ENVIRONMENT, EXIT_CODES } = await sources();
  const commands = await Promise.all(COMMANDS.map(async (entry) => ({ ...entry, ...(await entry.load()) })));
  const schemas = Object.entries(SCHEMAS).map(([name, { about, schema }]) => [
    `${name}.schema.json`,
    json({
      title: `cmo ${name}`,
      description: about,
      ...toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }),
    }),
  ]);
  return new Map([
    ...schemas,
    ['config.schema.json', json(configSchema())],
    ['errors.md', errorsPage(ERRORS)],
    ['exit-codes.md', page('Exit codes', ['`cmo help exit-codes` prints the same.'], ['code', 'when'], EXIT_CODES)],
    [
      'environment.md',
      page(
        'Environment',
        [
          '`cmo config show --origin` shows which of them are in effect. A variable that is set to nothing counts as unset.',
        ],
        ['variable', 'what it says'],
        ENVIRONMENT,
      ),
    ],
    ['commands.md', commandsPage(commands)],
    ['README.md', indexPage(SCHEMAS)],
  ]);
}

function json(value) {
  const { title, description, $schema, ...rest } = value;
  return `${JSON.stringify({ $schema, title, description, ...rest }, null, 2)}\n`;
}

const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
const row = (cells) => `| ${cells.map(cell).join(' | ')} |`;
const tableOf = (head, rows) => [row(head), row(head.map(() => '---')), ...rows.map(row)];

function page(title, lines, head, rows) {
  return [
    `# ${title}`,
    '',
    ...lines,
    WRITTEN,
    '',
    ...tableOf(
      head,
      rows.map(([first, ...rest]) => [`\`${first}\``, ...rest]),
    ),
    '',
  ].join('\n');
}

function errorsPage(errors) {
  const rows = Object.entries(errors).map(([code, { message, exit, http, retry, fix }]) => [
    `\`${code}\``,
    message,
    exit,
    http,
    retry,
    fix,
  ]);
  const lines = [
    'Codes are stable; messages may improve. `exit` is what a command leaves with, `status` what the HTTP interface answers. `retry`: `after-fix` needs a change first, `later` a window or a service, `now` can be tried at once, `never` cannot.',
  ];
  return [
    '# Errors',
    '',
    ...lines,
    WRITTEN,
    '',
    ...tableOf(['code', 'message', 'exit', 'status', 'retry', 'fix'], rows),
    '',
  ].join('\n');
}

function commandsPage(commands) {
  const lines = commands.flatMap(({ name, summary, words, flags, examples, notes, output, schema }) => {
    const rows = Object.values(flags).map((flag) => [
      `\`${flag.short ? `${flag.short}, ` : ''}${flag.name}${flag.value === null ? '' : ` ${flag.value}`}\``,
      flag.help,
    ]);
    return [
      `## cmo ${name}`,
      '',
      `${summary[0].toUpperCase()}${summary.slice(1)}.${words.max > 0 ? ` Takes \`${words.shown}\`.` : ''} JSON: \`${schema}\`${output === 'json-in-pipes' ? ', also where stdout is no terminal' : ''}.`,
      '',
      ...(rows.length > 0 ? [...tableOf(['flag', ''], rows), ''] : []),
      ...(notes ?? []).map((note) => `- ${note}`),
      ...(notes ? [''] : []),
      '```',
      ...examples,
      '```',
      '',
    ];
  });
  return [
    '# Commands',
    '',
    '`cmo help COMMAND` prints the same. `--flag value` and `--flag=value` mean the same; a flag that is not known is refused.',
    WRITTEN,
    '',
    ...lines,
  ].join('\n');
}

function indexPage(schemas) {
  const pages = [
    ['commands.md', 'every command and flag'],
    ['errors.md', 'every error code'],
    ['exit-codes.md', 'what a command leaves with'],
    ['environment.md', 'the variables that cmo reads'],
    ['config.schema.json', 'the configuration file, for an editor: `"$schema": "…/docs/reference/config.schema.json"`'],
  ];
  const forms = Object.entries(schemas).map(([name, { about }]) => [`${name}.schema.json`, about]);
  const link = ([file, about]) => [`[${file}](${file})`, about];
  return [
    '# Reference',
    '',
    WRITTEN,
    '',
    ...tableOf(['page', ''], pages.map(link)),
    '',
    'Forms, as JSON Schema (2020-12). Within a major version members are only added.',
    '',
    ...tableOf(['form', ''], forms.map(link)),
    '',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(folder, { recursive: true });
  const files = await referenceFiles();
  for (const name of readdirSync(folder)) if (!files.has(name)) rmSync(join(folder, name));
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
}
