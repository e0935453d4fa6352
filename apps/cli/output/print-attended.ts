import { censusOf, errorBody, ERRORS, type Envelope, type ErrorBody } from '#contract';
import type { Attended } from '../client/attend.js';
import { batchData } from '../client/batch.js';
import type { Context } from '../command.js';
import { EXIT_INTERRUPTED, exitOfEnvelope, exitOfEnvelopes } from '../exit-code.js';
import { SIGNAL_EXIT } from '../signals.js';
import { censusText } from './census.js';
import { failureLines, summaryLine } from './envelope-text.js';
import { errorText } from './error-text.js';
import { printData, printJson } from './json.js';
import { printBatch } from './print-batch.js';
import { printEnvelope } from './print-envelope.js';

/**
 * Says how the waiting ended, and gives the exit code. One dispatch prints its envelope, several a list of them, a
 * batch its census too.
 */
export async function printAttended(
  context: Context,
  ids: readonly string[],
  attended: Attended,
  batch?: string,
  handed = false,
): Promise<number> {
  const goesOn = `\`cmo wait ${batch === undefined ? ids.join(' ') : `--batch ${batch}`}\` takes it up again`;
  switch (attended.how) {
    case 'refused':
      return sayError(context, null, attended.error);
    case 'ended':
      return batch === undefined
        ? printEnded(context, attended.envelopes)
        : printBatch(context, batchData(batch, attended.envelopes), { each: false, handed });
    case 'time-over': {
      const [only] = attended.envelopes;
      const error = errorBody('CMO_E_WAIT_TIMEOUT', undefined, { fix: goesOn });
      if (context.json && handed)
        context.output.note(`batch ${batch ?? ''}: ${censusText(batchData(batch ?? '', attended.envelopes).census)}`);
      else if (context.json && batch !== undefined)
        printJson(context, { schema: 'cmo.batch/1', ok: false, data: batchData(batch, attended.envelopes), error });
      else if (context.json && ids.length === 1 && only) printJson(context, { ...only, error });
      else if (context.json) printData(context, 'cmo.wait/1', { dispatches: attended.envelopes });
      context.output.note(
        errorText({ ...error, ...standingOf(context, attended.envelopes) }, context.paintNotes, context.now()),
      );
      return ERRORS.CMO_E_WAIT_TIMEOUT.exit;
    }
    case 'lost':
      // What is not on record doesn't go on either.
      return sayError(
        context,
        ids,
        ERRORS[attended.error.code].exit === ERRORS.CMO_E_DAEMON.exit
          ? { ...attended.error, fix: `${attended.error.fix}; the dispatch does not depend on it: ${goesOn}` }
          : attended.error,
      );
    case 'left':
      sayError(
        context,
        ids,
        errorBody('CMO_E_INTERRUPTED', `ended by ${attended.signal}; the dispatch goes on`, { fix: goesOn }),
      );
      return SIGNAL_EXIT[attended.signal];
    case 'interrupted':
      return printInterrupted(context, ids, attended.envelopes);
  }
}

/** What a wait that ran out waited for: of one its line, of several the census. */
function standingOf({ paintNotes, now }: Context, envelopes: readonly Envelope[]): { details?: string[] } {
  const [only] = envelopes;
  if (only === undefined) return {};
  return {
    details: [
      envelopes.length === 1
        ? summaryLine(only, paintNotes, now())
        : censusText(censusOf(envelopes.map(({ state }) => state))),
    ],
  };
}

async function printEnded(context: Context, envelopes: readonly Envelope[]): Promise<number> {
  const [only] = envelopes;
  if (envelopes.length === 1 && only) {
    await printEnvelope(context, only, { summary: context.output.stderrIsTerminal });
    return exitOfEnvelope(only);
  }
  if (context.json) printData(context, 'cmo.wait/1', { dispatches: envelopes });
  const failed = envelopes.filter(({ ok }) => !ok).length;
  context.output.note(`${envelopes.length} dispatches: ${envelopes.length - failed} succeeded, ${failed} not`);
  return exitOfEnvelopes(envelopes);
}

/** Each as it ends, with why it failed, when a person waits for several. */
export function printEnd(context: Context, envelope: Envelope): void {
  if (context.json) return;
  context.output.line(summaryLine(envelope, context.paint, context.now(), context.output.columns));
  const [why] = failureLines(envelope, context.paint, context.now());
  if (why !== undefined) context.output.line(`  ${why}`);
}

function printInterrupted(context: Context, ids: readonly string[], ended: readonly Envelope[]): number {
  const open = ids.filter((id) => !ended.some(({ dispatchId }) => dispatchId === id));
  const told = [
    ...ended.map(({ dispatchId, state }) => `${dispatchId} ${state}`),
    ...open.map((id) => `${id} not ended yet (\`cmo show ${id}\` says what becomes of it)`),
  ];
  const [only] = ended;
  if (context.json && ids.length === 1 && only) printJson(context, only);
  else if (context.json)
    printJson(context, {
      schema: 'cmo.envelope/1',
      ok: false,
      ...(ids.length === 1 && { dispatchId: ids[0] }),
      error: errorBody('CMO_E_INTERRUPTED'),
    });
  context.output.note(`cmo: interrupted: ${told.join(', ')}`);
  return EXIT_INTERRUPTED;
}

function sayError(context: Context, ids: readonly string[] | null, error: ErrorBody): number {
  if (context.json)
    printJson(context, {
      schema: 'cmo.envelope/1',
      ok: false,
      ...(ids?.length === 1 && { dispatchId: ids[0] }),
      error,
    });
  context.output.note(errorText(error, context.paintNotes, context.now()));
  return ERRORS[error.code].exit;
}
