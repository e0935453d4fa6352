import { CmoError, STATES, type DispatchRow, type ListData } from '#contract';
import { DaemonClient } from '../client/daemon.js';
import { hasRecords } from '../client/on-record.js';
import { command, type Context } from '../command.js';
import { OUTPUT_FLAGS, valued } from '../flags/flag.js';
import { line, whole, words } from '../flags/readers.js';
import { independenceText } from '../output/envelope-text.js';
import { printData } from '../output/json.js';
import { paintState } from '../output/paint.js';
import { doneSoFar } from '../output/progress-text.js';
import { clip, table } from '../output/table.js';
import { clockText, durationText, momentText } from '../output/time-text.js';

export const ls = command({
  name: 'ls',
  summary: 'list dispatches, newest first',
  words: { shown: '', min: 0, max: 0 },
  flags: {
    state: valued('--state', 'A,B', words(STATES), `only these: ${STATES.join(', ')}`),
    batch: valued('--batch', 'NAME', line('the name of a batch'), 'only this batch'),
    limit: valued('--limit', 'N', whole(1, 10_000), 'at most so many (default 20)'),
    ...OUTPUT_FLAGS,
  },
  output: 'human',
  schema: 'cmo.dispatches/1',
  examples: ['cmo ls', 'cmo ls --state queued,running', 'cmo ls --json --limit 500'],
  async run({ values }, context) {
    const data = (await hasRecords(context)) ? await listed(values, context) : { dispatches: [] };
    if (context.json) printData(context, 'cmo.dispatches/1', data);
    else for (const text of listText(data.dispatches, context)) context.output.line(text);
    return 0;
  },
});

async function listed({ state, batch, limit = 20 }: { state?: readonly string[]; batch?: string; limit?: number }, { paths }: Context): Promise<ListData> {
  const query = new URLSearchParams({ limit: String(limit), ...(state && { state: state.join(',') }), ...(batch !== undefined && { batch }) });
  const outcome = await new DaemonClient(paths).call<ListData>({ method: 'GET', path: `/v1/dispatches?${query.toString()}`, daemon: 'start' });
  if (!outcome.ok) throw new CmoError(outcome.error);
  return outcome.data;
}

function listText(rows: readonly DispatchRow[], { paint, now }: Context): string[] {
  if (rows.length === 0) return ['nothing is on record that fits'];
  const head = ['dispatch', 'state', 'submitted', 'took', 'lane', 'model', 'role', 'project', ''].map((cell) => (cell === '' ? '' : paint.dim(cell)));
  return table([head, ...rows.map((row) => cells(row))]);

  function cells(row: DispatchRow): string[] {
    const end = row.endedAt === null ? now() : Date.parse(row.endedAt);
    const state = row.cancelAsked && row.endedAt === null ? `${paintState(row.state, paint)} (cancel asked)` : paintState(row.state, paint);
    return [row.id, state, clockText(Date.parse(row.submittedAt), now()), durationText(end - Date.parse(row.submittedAt)), row.lane ?? '-', row.model ?? '-', row.role, clip(row.project, 24), clip(remark(row), 90)];
  }

  /** A degraded review is told first: whoever reads the verdict must not miss it. */
  function remark(row: DispatchRow): string {
    const label = row.degradedReview ? independenceText({ independence: row.independence ?? 'same-vendor', degradedReview: true }) : null;
    return [...(label === null ? [] : [label]), standing(row)].filter((part) => part !== '').join('; ');
  }

  function standing({ waiting, error, attempts, needsLook, progress }: DispatchRow): string {
    if (waiting) return `waiting-${waiting.for}: ${waiting.why}${waiting.until === null ? '' : `, until ${momentText(waiting.until, now())}`}`;
    if (needsLook) return `needs a look: ${error ?? 'it may have written files'}`;
    if (progress) return [...(attempts > 1 ? [`attempt ${attempts}`] : []), doneSoFar(progress)].join(': ');
    return error ?? (attempts > 1 ? `${attempts} attempts` : '');
  }
}
