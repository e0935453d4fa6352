import { errorBody, ERRORS, isEnded, STATES, type BatchData, type Census, type State } from '#contract';
import type { Context } from '../command.js';
import { censusText } from './census.js';
import { failureLines, summaryLine } from './envelope-text.js';
import { errorText } from './error-text.js';
import { printData, printJson } from './json.js';

/** The states of those that ended without an answer. */
function notGood(census: Census): State[] {
  return STATES.filter((state) => isEnded(state) && state !== 'succeeded' && census[state] > 0);
}

/**
 * A batch: its answers and its census. Exit 0 when all succeeded, 7 while some go on, else 6.
 * @param each for a person: every answer with a line above it (a wait has told each as it ended)
 * @param handed the answers were handed over already, in another form than ours
 */
export function printBatch(
  context: Context,
  data: BatchData,
  { each, handed = false }: { each: boolean; handed?: boolean } = { each: true },
): number {
  const { batch, census, dispatches } = data;
  const open = dispatches.some(({ state }) => !isEnded(state));
  const error = open
    ? errorBody('CMO_E_WAIT_TIMEOUT', `not all of it has ended: ${censusText(census)}`, {
        fix: `\`cmo wait --batch ${batch}\``,
      })
    : errorBody('CMO_E_BATCH', undefined, {
        fix: `\`cmo ls --batch ${batch} --state ${notGood(census).join()}\` shows which, \`cmo retry --batch ${batch}\` runs them once more`,
      });
  // One whose place a retry took is judged by that.
  const good =
    !open &&
    dispatches.every(
      ({ ok, retriedBy }) =>
        ok || (retriedBy !== undefined && dispatches.some(({ dispatchId }) => dispatchId === retriedBy)),
    );
  const replaced = dispatches.filter(({ ok, retriedBy }) => !ok && retriedBy !== undefined).length;
  if (handed) {
    // stdout has it all.
  } else if (context.json && good) printData(context, 'cmo.batch/1', data);
  else if (context.json) printJson(context, { schema: 'cmo.batch/1', ok: false, data, error });
  else if (each) {
    for (const envelope of dispatches) {
      context.output.line(context.paint.bold(summaryLine(envelope, context.paint, context.now())));
      context.output.line(
        envelope.ok
          ? `${envelope.result ?? ''}\n`
          : `${failureLines(envelope, context.paint, context.now()).join('\n')}\n`,
      );
    }
  }
  context.output.note(`batch ${batch}: ${censusText(census)}${replaced > 0 ? `; ${replaced} of them retried` : ''}`);
  if (!good && (handed || !context.json)) context.output.note(errorText(error, context.paintNotes, context.now()));
  return good ? 0 : ERRORS[error.code].exit;
}
