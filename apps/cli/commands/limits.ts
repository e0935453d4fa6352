import { CmoError, errorBody, type LimitsData } from '#contract';
import { laneState } from '#policy/bands';
import { factsOfLimits } from '#policy/limits-facts';
import { readMetersFile } from '../client/meters-file.js';
import { command, type Context } from '../command.js';
import { on, OUTPUT_FLAGS } from '../flags/flag.js';
import { limitsLine } from '../output/limits-line.js';
import { limitsText } from '../output/limits-text.js';
import { fitted } from '../output/table.js';

export const limits = command({
  name: 'limits',
  summary: 'what is left of each window',
  words: { shown: '', min: 0, max: 0 },
  flags: {
    refresh: on('--refresh', 'ask the vendors now (starts the daemon)'),
    line: on('--line', 'one line for a prompt or a status bar; only reads a file'),
    ...OUTPUT_FLAGS,
  },
  output: 'json-in-pipes',
  schema: 'cmo.limits/1',
  examples: ['cmo limits', 'cmo limits --refresh', 'cmo limits --line'],
  notes: [
    'Exit 3 when no lane is usable. Percentages are the vendors’ own, with their source and age; what is not known is called unknown.',
  ],
  async run({ values }, context) {
    const now = context.now();
    if (values.line) {
      if (values.refresh)
        throw new CmoError(
          errorBody('CMO_E_UNSATISFIABLE', '--line and --refresh together: a status bar must never wait for a vendor', {
            fix: 'say one of them',
          }),
        );
      const file = readMetersFile(context.paths);
      context.output.line(file === null ? 'cmo: no meter read yet' : limitsLine(file, context.paint, now));
      return 0;
    }
    const { limitsAsked, limitsKnown } = await import('../client/limits.js');
    const data = values.refresh
      ? await limitsAsked(context)
      : ((await limitsKnown(context)) ?? (await nothingRead(context)));
    if (context.json) {
      const [{ limitsJson }, { printJson }] = await Promise.all([
        import('../output/limits-json.js'),
        import('../output/json.js'),
      ]);
      printJson(context, limitsJson(data, now));
    } else {
      const { columns } = context.output;
      for (const text of fitted(limitsText(data, context.paint, now, columns), columns, 2)) context.output.line(text);
    }
    return usableLanes(data, now).length > 0 ? 0 : 3;
  },
});

/** Before the first daemon: the lanes that are configured, and not a single number. */
async function nothingRead(context: Context): Promise<LimitsData> {
  const [{ configOrRefusal }, { pictured }] = await Promise.all([
    import('../request/config.js'),
    import('../plan/picture.js'),
  ]);
  context.output.note('no meter has been read here yet; `cmo limits --refresh` asks the vendors');
  return pictured(context, configOrRefusal(context), null).data;
}

/** Lanes that take work now: neither exhausted nor without a CLI. */
function usableLanes(data: LimitsData, now: number): string[] {
  const facts = factsOfLimits(data, now);
  return Object.entries(facts).flatMap(([lane, one]) =>
    ['exhausted', 'missing'].includes(laneState(one, '', data.pressure).state) ? [] : [lane],
  );
}
