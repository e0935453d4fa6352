import { DEFAULT_CONFIG } from '#contract';
import { loadConfig, processOptions } from '#config';
import { command, type Context } from '../command.js';
import { BOX_CHECKS } from '../doctor/box-checks.js';
import { LANE_CHECKS } from '../doctor/lane-checks.js';
import type { Check, Patient, Row } from '../doctor/row.js';
import { REBOOT_CHECKS } from '../doctor/reboot-checks.js';
import { SETTINGS_CHECKS } from '../doctor/settings-checks.js';
import { OUTPUT_FLAGS, valued } from '../flags/flag.js';
import { words } from '../flags/readers.js';
import { printData } from '../output/json.js';
import type { Paint } from '../output/paint.js';
import { fitted } from '../output/table.js';

const CHECKS: readonly Check[] = [...BOX_CHECKS, ...REBOOT_CHECKS, ...LANE_CHECKS, ...SETTINGS_CHECKS];
const GROUPS = CHECKS.map(({ group }) => group);

export const doctor = command({
  name: 'doctor',
  summary: 'check that this box is set up, and say what is missing',
  words: { shown: '', min: 0, max: 0 },
  flags: { only: valued('--only', 'A,B', words(GROUPS), `only these: ${GROUPS.join(', ')}`), ...OUTPUT_FLAGS },
  output: 'human',
  schema: 'cmo.doctor/1',
  examples: ['cmo doctor', 'cmo doctor --only redis,daemon --json'],
  notes: ['It spends nothing and changes nothing. Exit 1 only when a row says fail.'],
  async run({ values }, context) {
    const loaded = loadConfig(processOptions(context.env));
    const patient: Patient = { context, loaded, config: loaded.ok ? loaded.config : DEFAULT_CONFIG };
    const chosen = CHECKS.filter(({ group }) => values.only?.includes(group) ?? true);
    const looking = chosen.map((check) => check.look(patient));
    const rows: Row[] = [];
    // All look at once; each row is printed as soon as those before it are there.
    for (const looked of looking) {
      const found = await looked;
      rows.push(...found);
      if (!context.json)
        for (const row of found) context.output.line(rowText(row, context.paint, context.output.columns));
    }
    const failed = rows.filter(({ status }) => status === 'fail').length;
    const warnings = rows.filter(({ status }) => status === 'warn').length;
    if (context.json) printData(context, 'cmo.doctor/1', { rows, failed, warnings });
    else context.output.line(closing(failed, warnings, context));
    return failed > 0 ? 1 : 0;
  },
});

/** Where what was seen begins. */
const SEEN = 26;

function rowText({ id, status, seen, fix }: Row, paint: Paint, columns: number | null): string {
  const word = {
    ok: paint.green('ok     '),
    warn: paint.yellow('warn   '),
    fail: paint.red('fail   '),
    skipped: paint.dim('skipped'),
  }[status];
  const [first = '', ...more] = seen.split('\n');
  const lines = [`${word}  ${id.padEnd(16)} ${first}`, ...more.map((line) => `${' '.repeat(SEEN)}${line}`)];
  return [
    ...fitted(lines, columns, SEEN),
    // Whole: it may be a command, and is there to be copied.
    ...(fix === null ? [] : [`${' '.repeat(SEEN)}${paint.dim('fix:')} ${fix}`]),
  ].join('\n');
}

function closing(failed: number, warnings: number, { paint }: Context): string {
  if (failed > 0) return paint.red(`${failed} to fix${warnings > 0 ? `, ${warnings} to look at` : ''}`);
  return warnings > 0 ? paint.yellow(`it will work; ${warnings} to look at`) : paint.green('it will work');
}
