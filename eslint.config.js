// The rules that hold the boundaries. Types (`tsc -b`) hold the picture of folders; what the compiler can't see is here.
// In a flat configuration a later block REPLACES a rule's options: so the lists are composed here, and the purity block is last.
import { builtinModules } from 'node:module';
import tseslint from 'typescript-eslint';

const shell = [
  {
    selector:
      'CallExpression[callee.name=/^(spawn|spawnSync|execFile|execFileSync|fork|execa|execaSync)$/] > ObjectExpression > Property[key.name="shell"][value.value!=false]',
    message: 'No shell: pass the program and its arguments as an array.',
  },
  {
    selector:
      'CallExpression[arguments.0.value=/(^|\\u002f)(ba|da|z)?sh$/] ArrayExpression > Literal[value=/^-l?c$/] + :matches(TemplateLiteral[expressions.length>0], BinaryExpression, CallExpression)',
    message: 'A shell script is constant; what varies goes in as its arguments.',
  },
];
const environment = [
  ":matches(MemberExpression[object.name='process'], MemberExpression[object.property.name='process'])[property.name='env']",
  "MemberExpression[object.name='process'][property.value='env']",
  "VariableDeclarator[init.name='process'] > ObjectPattern > Property[key.name='env']",
  "ImportDeclaration[source.value='node:process'] > ImportSpecifier[imported.name='env']",
].map((selector) => ({
  selector,
  message: 'Only libs/config reads the environment; take what you need from its result.',
}));
const language = [
  { selector: 'ExportDefaultDeclaration', message: 'Name what you export.' },
  { selector: 'TSEnumDeclaration', message: 'A union of literals instead of an enum.' },
];
const clock = [
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'Take the time as an argument.' },
  { selector: "CallExpression[callee.name='Date']", message: 'Take the time as an argument.' },
  {
    selector:
      'CallExpression[callee.property.name=/^(get|set)(?!UTC)(Date|Day|Month|FullYear|Hours|Minutes|Seconds|TimezoneOffset)$|^toLocale(Date|Time)?String$/]',
    message: "That depends on the box's time zone or locale; use the UTC form or an Intl formatter with both named.",
  },
];

const nodePrefix = builtinModules
  .filter((name) => !name.startsWith('_'))
  .map((name) => ({ name, message: `Write node:${name}.` }));
const noStringCommands = [
  {
    name: 'node:child_process',
    importNames: ['exec', 'execSync'],
    message: 'They take a string for a shell; use spawn or execFile.',
  },
  {
    name: 'execa',
    importNames: ['execaCommand', 'execaCommandSync', '$'],
    message: 'They take a string; use execa(file, args).',
  },
];

const fixture = (name) => `test/fixtures/lint/${name}/**/*.ts`;

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.cache/', 'coverage/', 'test/vendor-sim/', 'test/fixtures/'] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.base],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { arguments: false, attributes: false } },
      ],
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      'no-console': 'error',
      'no-debugger': 'error',
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'prefer-const': 'error',
      eqeqeq: ['error', 'smart'],
      'no-restricted-imports': ['error', { paths: [...nodePrefix, ...noStringCommands] }],
      'no-restricted-syntax': ['error', ...language, ...shell, ...environment],
    },
  },
  { files: ['libs/config/**/*.ts'], rules: { 'no-restricted-syntax': ['error', ...language, ...shell] } },
  { files: ['apps/cli/output/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    // Tests set environments and print what they saw; vitest.config.ts must have a default export.
    files: ['test/**/*.ts', 'bench/**/*.ts', '*.config.ts'],
    ignores: ['test/fixtures/**'],
    rules: { 'no-restricted-syntax': ['error', ...shell], 'no-console': 'off' },
  },
  {
    files: ['**/*.d.ts', '*.config.ts'],
    extends: [tseslint.configs.disableTypeChecked],
    // A declaration of a plain JavaScript module names types by import(): an import at its top would make it a module itself.
    rules: { 'no-restricted-syntax': 'off', '@typescript-eslint/consistent-type-imports': 'off' },
  },
  {
    files: ['scripts/**/*.mjs', 'bench/**/*.mjs', '*.js'],
    rules: {
      'no-restricted-imports': ['error', { paths: [...nodePrefix, ...noStringCommands] }],
      'no-restricted-syntax': ['error', ...shell],
      'no-unused-vars': 'error',
      'prefer-const': 'error',
      eqeqeq: ['error', 'smart'],
    },
  },
  // Purity, last: these folders give the same answer for the same arguments, wherever and whenever they run.
  {
    files: ['libs/policy/**/*.ts', 'libs/report/**/*.ts', 'libs/contract/**/*.ts', fixture('pure')],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^(?!\\.\\.?/|#contract(/|$)|zod(/mini)?$)',
              message: 'Pure: imports the contract and its own folder only.',
            },
          ],
        },
      ],
      'no-restricted-globals': [
        'error',
        ...[
          'process',
          'globalThis',
          'global',
          'Buffer',
          'fetch',
          'crypto',
          'performance',
          'setTimeout',
          'setInterval',
          'setImmediate',
          'queueMicrotask',
          'require',
        ].map((name) => ({ name, message: 'Pure: nothing from outside but the arguments.' })),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Take the time as an argument.' },
        { object: 'Math', property: 'random', message: 'Take the randomness as an argument.' },
      ],
      'no-restricted-syntax': ['error', ...language, ...shell, ...environment, ...clock],
    },
  },
);
