import type { Envelope } from '#contract';
import { paintState, type Paint } from './paint.js';
import { clip } from './table.js';
import { byTheClock, durationText, momentText } from './time-text.js';

/** `claude sonnet effort=medium (tier balanced)`; what is not known yet is left out. */
export function laneText({ lane, model, effort, tier }: Pick<Envelope, 'lane' | 'model' | 'effort' | 'tier'>): string {
  if (lane === null) return 'no lane';
  return [lane, model, effort === null ? null : `effort=${effort}`, tier === null ? null : `(tier ${tier})`]
    .filter((part) => part !== null)
    .join(' ');
}

/** Columns that a whole line takes, more or less. */
const WHOLE = 100;

/**
 * One line on a dispatch: for stderr beside the answer, and for each of several.
 * @param columns of the terminal where one of many must not take two lines: there effort and tier are left out
 */
export function summaryLine(envelope: Envelope, paint: Paint, now: number, columns: number | null = null): string {
  const { lane, model } = envelope;
  const where =
    columns !== null && columns < WHOLE ? laneText({ lane, model, effort: null, tier: null }) : laneText(envelope);
  const parts = [envelope.dispatchId, paintState(envelope.state, paint), where];
  const started = envelope.attempts.length;
  if (started > 1) parts.push(`${started} attempts${envelope.failedOver ? ', moved to another lane' : ''}`);
  parts.push(durationText(envelope.durationMs));
  const label = independenceText(envelope);
  if (label !== null) parts.push(envelope.degradedReview ? paint.yellow(label) : label);
  if (envelope.waiting) parts.push(waitingText(envelope.waiting, now));
  return parts.join(' · ');
}

/** Why it did not succeed, as lines; none when it did or goes on. */
export function failureLines(envelope: Envelope, paint: Paint, now: number): string[] {
  if (envelope.ok || !envelope.error) return [];
  const { error } = envelope;
  const lines = [`${paint.red(byTheClock(error.message, now))} ${paint.dim(`[${error.code}]`)}`];
  for (const detail of error.details ?? []) lines.push(`  ${byTheClock(detail, now)}`);
  for (const { attempt, lane, model, class: what, outcome, words } of envelope.attempts) {
    const said = words ? `: ${clip(words, 160)}` : '';
    lines.push(`  attempt ${attempt} on ${lane} ${model}: ${what ?? outcome}${said}`);
  }
  if (envelope.resumeAfter) lines.push(`  a window opens at ${momentText(envelope.resumeAfter, now)}`);
  if (envelope.needsLook) lines.push(`  ${paint.yellow('it may have written files: look before it runs again')}`);
  if (envelope.partial)
    lines.push(
      `  what it had said so far: \`cmo logs ${envelope.dispatchId}\`, and \`partial\` in \`cmo result --json\``,
    );
  if (error.fix !== '') lines.push(`  ${paint.dim('fix:')} ${error.fix.replaceAll('<id>', envelope.dispatchId)}`);
  return lines;
}

/** What is odd about a run whatever became of it: other agents that wrote in its folder at the same time. */
export function oddities({ receipts }: Pick<Envelope, 'receipts'>, paint: Paint): string[] {
  const others = new Set(
    receipts.flatMap(({ notes }) =>
      notes.flatMap((note) => (note.startsWith('beside:') ? note.slice('beside:'.length).split(',') : [])),
    ),
  );
  return others.size === 0
    ? []
    : [
        paint.yellow(
          `other agents wrote in the same folder meanwhile: ${[...others].join(', ')} (\`--exclusive\` waits for them)`,
        ),
      ];
}

export function independenceText({
  independence,
  degradedReview,
}: Pick<Envelope, 'independence' | 'degradedReview'>): string | null {
  if (independence === undefined) return null;
  return degradedReview ? `review degraded: ${independence}` : independence;
}

export function waitingText(waiting: NonNullable<Envelope['waiting']>, now: number): string {
  return `waiting-${waiting.for}: ${waiting.why}${untilText(waiting.until, now)}`;
}

/** `, until 15:00 (in 2h 00m)`, behind a reason to wait; empty when nobody knows until when. */
export function untilText(until: string | null, now: number): string {
  return until === null ? '' : `, until ${momentText(until, now)}`;
}
