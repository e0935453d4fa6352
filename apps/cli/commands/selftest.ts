import { command, type Context } from '../command.js';
import { OUTPUT_FLAGS } from '../flags/flag.js';
import { printData } from '../output/json.js';
import { table } from '../output/table.js';
import { configOrRefusal } from '../request/config.js';
import { checks, type Check } from '../selftest/checks.js';
import { decisionTable, type TableRow } from '../selftest/decision-table.js';

export const selftest = command({
  name: 'selftest',
  summary: 'where typical work would run with your lanes and models, and whether cmo itself works; offline',
  words: { shown: '', min: 0, max: 0 },
  flags: OUTPUT_FLAGS,
  output: 'human',
  schema: 'cmo.selftest/1',
  examples: ['cmo selftest'],
  notes: ['The table assumes your configuration and every window at 20 %. Exit 1 when a check fails.'],
  async run(_input, context) {
    const rows = decisionTable(configOrRefusal(context));
    const checked = await checks();
    if (context.json)
      printData(context, 'cmo.selftest/1', {
        table: rows.map(({ case: name, decision }) => ({ case: name, decision })),
        checks: checked,
      });
    else for (const line of textOf(rows, checked, context)) context.output.line(line);
    return checked.every(({ ok }) => ok) ? 0 : 1;
  },
});

function textOf(rows: readonly TableRow[], checked: readonly Check[], { paint }: Context): string[] {
  const head = ['work', 'weight', 'tier', 'lane', 'model', 'effort', ''].map((cell) =>
    cell === '' ? '' : paint.dim(cell),
  );
  const cells = rows.map(({ case: name, decision }) => [
    name,
    decision.weight.toFixed(3),
    decision.tier,
    ...(decision.ok
      ? [decision.lane, decision.model, decision.effort ?? '-']
      : ['-', `deferred: ${decision.reasonCode}`, '-']),
    decision.notes.join(', '),
  ]);
  const failed = checked.filter(({ ok }) => !ok).length;
  return [
    ...table([head, ...cells]),
    '',
    ...checked.map(
      ({ name, ok, seen }) => `${ok ? paint.green('ok    ') : paint.red('FAILED')}  ${name} ${paint.dim(`(${seen})`)}`,
    ),
    '',
    failed === 0
      ? paint.green(`${checked.length} checks passed`)
      : paint.red(`${failed} of ${checked.length} checks failed`),
  ];
}
