import { CmoError, errorBody } from '#contract';
import {
  configError,
  configRows,
  configSchema,
  describeOrigin,
  loadConfig,
  problemText,
  processOptions,
  shownValue,
  type Loaded,
} from '#config';
import { command, type Context } from '../command.js';
import { on, OUTPUT_FLAGS } from '../flags/flag.js';
import { oneOf } from '../flags/one-of.js';
import { printData, printJson } from '../output/json.js';
import { table } from '../output/table.js';
import { loadedOrRefusal } from '../request/config.js';

const WHAT = ['show', 'check', 'schema'] as const;

export const config = command({
  name: 'config',
  summary: 'show and check the configuration',
  words: { shown: WHAT.join(' | '), min: 1, max: 1 },
  flags: { origin: on('--origin', 'say where each value came from (show)'), ...OUTPUT_FLAGS },
  output: 'human',
  schema: 'cmo.config/1',
  examples: ['cmo config show --origin', 'cmo config check', 'cmo config schema > config.schema.json'],
  notes: [
    'check: exit 2 when anything is wrong, with every problem at once.',
    'schema: the JSON Schema of the file, for an editor ("$schema").',
  ],
  async run({ values, words }, context) {
    const [typed = ''] = words;
    const what = oneOf(WHAT, typed, { command: 'config' });
    if (values.origin && what !== 'show')
      throw new CmoError(
        errorBody('CMO_E_USAGE', '--origin goes with `cmo config show`', { fix: '`cmo config show --origin`' }),
      );
    if (what === 'schema') {
      printJson(context, configSchema());
      return 0;
    }
    if (what === 'check') return checked(loadedOrRefusal(context), context);
    const loaded = loadConfig(processOptions(context.env));
    if (!loaded.ok) throw new CmoError(configError(loaded.diagnostics));
    return showConfig(loaded, values.origin ?? false, context);
  },
});

type Good = Extract<Loaded, { ok: true }>;

function showConfig({ config: effective, origins, file }: Good, withOrigin: boolean, context: Context): number {
  const rows = configRows(effective).map((row) => ({
    path: row.path,
    value: shownValue(row),
    origin: describeOrigin(origins.get(row.path) ?? { from: 'default' }),
  }));
  if (context.json)
    printData(context, 'cmo.config/1', {
      file,
      values: rows.map(({ path, value, origin }) => (withOrigin ? { path, value, origin } : { path, value })),
    });
  else {
    context.output.line(context.paint.dim(file ?? `no file: ${context.paths.configFile} would be read`));
    for (const line of table(
      rows.map(({ path, value, origin }) => [
        path,
        ...(withOrigin ? [context.paint.dim(origin)] : []),
        JSON.stringify(value),
      ]),
    ))
      context.output.line(line);
  }
  return 0;
}

function checked({ warnings, file }: Good, context: Context): number {
  const told = warnings.map(problemText);
  if (context.json) printData(context, 'cmo.config/1', { file, problems: 0, warnings: told });
  else {
    for (const warning of told) context.output.line(`${context.paint.yellow('warning')} ${warning}`);
    context.output.line(
      file === null
        ? `no file at ${context.paths.configFile}; the defaults and the environment are in order`
        : `${file} is in order`,
    );
  }
  return 0;
}
