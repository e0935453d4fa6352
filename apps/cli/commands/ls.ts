import { CLASSES, CmoError, STATES, type BatchesData, type DispatchRow, type ListData } from '#contract';
import { DaemonClient } from '../client/daemon.js';
import { hasRecords } from '../client/on-record.js';
import { command, type Context } from '../command.js';
import { on, OUTPUT_FLAGS, repeated, valued } from '../flags/flag.js';
import { labelText, line, past, whole, word, words } from '../flags/readers.js';
import { censusText } from '../output/census.js';
import { independenceText, waitingText } from '../output/envelope-text.js';
import { printData } from '../output/json.js';
import { paintState } from '../output/paint.js';
import { doneSoFar } from '../output/progress-text.js';
import { clip, table, width } from '../output/table.js';
import { byTheClock, clockText, durationText } from '../output/time-text.js';

/** Without --limit. */
const SHOWN = 20;

export const ls = command({
  name: 'ls',
  summary: 'list dispatches, newest first',
  words: { shown: '', min: 0, max: 0 },
  flags: {
    state: valued('--state', 'A,B', words(STATES), `only these: ${STATES.join(', ')}`),
    batch: valued('--batch', 'NAME', line('the name of a batch'), 'only this batch'),
    label: repeated('--label', 'NAME=TEXT', labelText, 'only with this label'),
    lane: valued('--lane', 'LANE', line('a lane'), 'only what waits for this lane, runs on it or ran on it last'),
    project: valued('--project', 'NAME', line('the name of a project'), 'only of this repository or folder'),
    node: valued('--node', 'NODE', line('the name of a node'), 'only of this box'),
    class: valued('--class', 'CLASS', word(CLASSES), `only these: ${CLASSES.join(', ')}`),
    since: valued(
      '--since',
      'WHEN',
      past,
      'submitted since then, or within this long: 90, 15m, 8h, 2d, 2026-12-01T03:00',
    ),
    needsLook: on('--needs-look', 'only what may have written files when it was cut off'),
    batches: on('--batches', 'the batches instead, each with its census'),
    limit: valued('--limit', 'N', whole(1, 10_000), `at most this many (default ${SHOWN})`),
    ...OUTPUT_FLAGS,
  },
  output: 'human',
  schema: 'cmo.dispatches/1',
  examples: [
    'cmo ls',
    'cmo ls --state queued,running',
    'cmo ls --label wave=2 --since 8h',
    'cmo ls --batches',
    'cmo ls --json --limit 500',
  ],
  notes: ['In a narrow terminal project and model give way; a pipe gets every column, a dispatch a line.'],
  async run({ values }, context) {
    if (values.batches) return lsBatches(values.limit ?? SHOWN, context);
    const data = (await hasRecords(context)) ? await listed(values, context) : { dispatches: [] };
    if (context.json) printData(context, 'cmo.dispatches/1', data);
    else {
      for (const text of listText(data.dispatches, context, values.batch)) context.output.line(text);
      if (values.limit === undefined && data.dispatches.length === SHOWN)
        context.output.note(context.paintNotes.dim(`these are the newest ${SHOWN}; --limit 200 shows more`));
    }
    return 0;
  },
});

type Said = Partial<Record<'batch' | 'lane' | 'project' | 'node' | 'class' | 'since', string>> & {
  state?: readonly string[];
  label?: readonly string[];
  needsLook?: true;
  limit?: number;
};

async function listed(
  { state, label = [], limit = SHOWN, needsLook, batch, lane, project, node, class: of, since }: Said,
  { paths }: Context,
): Promise<ListData> {
  const query = new URLSearchParams({
    limit: String(limit),
    ...(state && { state: state.join(',') }),
    ...(needsLook && { needsLook: 'true' }),
  });
  for (const [key, value] of Object.entries({ batch, lane, project, node, class: of, since }))
    if (value !== undefined) query.set(key, value);
  for (const one of label) query.append('label', one);
  const outcome = await new DaemonClient(paths).call<ListData>({
    method: 'GET',
    path: `/v1/dispatches?${query.toString()}`,
    daemon: 'start',
  });
  if (!outcome.ok) throw new CmoError(outcome.error);
  return outcome.data;
}

async function lsBatches(limit: number, context: Context): Promise<number> {
  const { paint, now } = context;
  const data = (await hasRecords(context)) ? await batchesOf(limit, context) : { batches: [] };
  if (context.json) printData(context, 'cmo.batches/1', data);
  else if (data.batches.length === 0) context.output.line('no batch is on record');
  else {
    const head = ['batch', 'submitted', ''].map((cell) => (cell === '' ? '' : paint.dim(cell)));
    for (const text of table(
      [
        head,
        ...data.batches.map(({ batch, firstAt, census }) => [batch, clockText(firstAt, now()), censusText(census)]),
      ],
      context.output.columns,
    ))
      context.output.line(text);
  }
  return 0;
}

async function batchesOf(limit: number, { paths }: Context): Promise<BatchesData> {
  const outcome = await new DaemonClient(paths).call<BatchesData>({
    method: 'GET',
    path: `/v1/batches?limit=${limit}`,
    daemon: 'start',
  });
  if (!outcome.ok) throw new CmoError(outcome.error);
  return outcome.data;
}

/** Project, then model, by their place in a row. */
const GIVES_WAY = [7, 5];

const widest = (rows: readonly (readonly string[])[]): number => Math.max(...table(rows).map((line) => width(line)));

function listText(rows: readonly DispatchRow[], { paint, now, output }: Context, batch?: string): string[] {
  if (rows.length === 0)
    return [`nothing on record matches${batch === undefined ? '' : '; `cmo ls --batches` lists the batches'}`];
  const head = ['dispatch', 'state', 'submitted', 'took', 'lane', 'model', 'role', 'project'].map((cell) =>
    paint.dim(cell),
  );
  const { columns } = output;
  const whole = [head, ...rows.map((row) => cells(row))];
  const told = rows.map((row) => clip(remark(row), 90));
  if (columns === null) return table(whole.map((row, i) => [...row, i === 0 ? '' : (told[i - 1] ?? '')]));
  // What `cmo show` tells anyway gives way first, then what is told of a row goes below it.
  let shown = whole;
  for (const column of GIVES_WAY)
    if (widest(shown) > columns) shown = shown.map((row) => row.filter((_, i) => i !== column));
  const beside = Math.max(...told.map((text) => width(text))) + 2 + widest(shown) <= columns;
  if (beside) return table(shown.map((row, i) => [...row, i === 0 ? '' : (told[i - 1] ?? '')]));
  return table(shown).flatMap((line, i) => {
    const text = i === 0 ? '' : (told[i - 1] ?? '');
    return text === '' ? [line] : [line, `  ${clip(text, columns - 2)}`];
  });

  function cells(row: DispatchRow): string[] {
    const end = row.endedAt === null ? now() : Date.parse(row.endedAt);
    const state =
      row.cancelAsked && row.endedAt === null
        ? `${paintState(row.state, paint)} (cancel asked)`
        : paintState(row.state, paint);
    return [
      row.id,
      state,
      clockText(Date.parse(row.submittedAt), now()),
      durationText(end - Date.parse(row.submittedAt)),
      row.lane ?? '-',
      row.model ?? '-',
      row.role,
      clip(row.project, 24),
    ];
  }

  /** A degraded review comes first: a reader of the verdict must not miss it. */
  function remark(row: DispatchRow): string {
    const label = row.degradedReview
      ? independenceText({ independence: row.independence ?? 'same-vendor', degradedReview: true })
      : null;
    return [...(label === null ? [] : [label]), byTheClock(standing(row), now())]
      .filter((part) => part !== '')
      .join('; ');
  }

  function standing({ waiting, error, attempts, needsLook, progress }: DispatchRow): string {
    if (waiting) return waitingText(waiting, now());
    if (needsLook) return `needs a look: ${error ?? 'it may have written files'}`;
    if (progress) return [...(attempts > 1 ? [`attempt ${attempts}`] : []), doneSoFar(progress)].join(': ');
    return error ?? (attempts > 1 ? `${attempts} attempts` : '');
  }
}
