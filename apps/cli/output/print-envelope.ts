import type { Envelope } from '#contract';
import type { Context } from '../command.js';
import { failureLines, oddities, summaryLine } from './envelope-text.js';
import { printJson } from './json.js';

/**
 * What `run`, `wait` and `result` print of one dispatch. For a person the answer stands alone on stdout, so that it can
 * be piped; all about it goes to stderr.
 */
export async function printEnvelope(
  context: Context,
  envelope: Envelope,
  options: { summary: boolean },
): Promise<void> {
  const { output, paintNotes, now } = context;
  if (context.json) printJson(context, envelope);
  else if (envelope.ok) output.line(envelope.result ?? '');
  if (!context.json || output.stderrIsTerminal)
    for (const warning of envelope.warnings ?? []) output.note(paintNotes.yellow(`cmo: ${warning}`));
  const told = context.json ? output.stderrIsTerminal : true;
  if (told) {
    const about = options.summary || !envelope.ok;
    for (const line of [
      ...(about ? [summaryLine(envelope, paintNotes, now())] : []),
      ...oddities(envelope, paintNotes),
      ...(about ? failureLines(envelope, paintNotes, now()) : []),
    ])
      output.note(line);
  }
  await output.flushed();
  if (output.closed())
    output.note(`cmo: the reader of stdout has left; \`cmo result ${envelope.dispatchId}\` prints it again`);
}
