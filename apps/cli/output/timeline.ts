import {
  isEnded,
  shownProgress,
  type AttemptReceipt,
  type Candidate,
  type DiffStat,
  type DispatchRecord,
  type LaneFacts,
  type PastAttempt,
  type Progress,
  type ShowData,
} from '#contract';
import { counted } from './count-text.js';
import { laneText, waitingText } from './envelope-text.js';
import { paintLane } from './lane-word.js';
import { paintState, type Paint } from './paint.js';
import { shortNumber } from './percent-text.js';
import { doneSoFar } from './progress-text.js';
import { clip, plain } from './table.js';
import { byTheClock, secondText, durationText, momentText } from './time-text.js';

/** A dispatch as a story: what was asked, why it went where it went, each attempt with what followed, how it stands. */
export function timeline({ record, receipts, waiting }: ShowData, paint: Paint, now: number): string[] {
  const attempts = receipts.flatMap((line) => (line.kind === 'attempt' ? [line] : []));
  return [
    ...heading(record, paint, now),
    '',
    ...decisionLines(record, paint),
    '',
    ...record.history.flatMap((attempt) =>
      attemptLines(
        attempt,
        attempts.find((line) => line.attempt === attempt.attempt && !line.fenced),
        paint,
        now,
      ),
    ),
    ...standing(record, waiting, paint, now),
  ];
}

function heading(record: DispatchRecord, paint: Paint, now: number): string[] {
  const { request, decision } = record;
  const { role, complexity, length } = decision.factors;
  const asked = [
    role,
    `complexity ${complexity}/5`,
    `length ${length}`,
    `access ${record.access}`,
    `class ${record.class}`,
  ];
  if (request.fullAccess) asked.push('full access');
  if (request.hasSchema) asked.push('schema');
  if (request.attempts !== undefined) asked.push(`at most ${request.attempts} attempts`);
  if (request.failover === false) asked.push('no failover');
  const cancelling = record.cancelAsked && !isEnded(record.state) ? ' (cancel asked)' : '';
  const lines = [
    `${paint.bold(record.id)}  ${paintState(record.state, paint)}${cancelling}`,
    field('asked', asked.join(', '), paint),
    field('in', plain(`${request.cwd} (project ${record.project})`), paint),
    field('submitted', momentText(iso(record.submittedAt), now), paint),
  ];
  if (request.parent) lines.push(field('by', `the agent of attempt ${request.parent}`, paint));
  for (const warning of request.warnings ?? []) lines.push(field('warning', warning, paint));
  if (request.reviewOf) lines.push(field('reviews', request.reviewOf, paint));
  if (request.batch) lines.push(field('batch', request.batch, paint));
  for (const [name, text] of Object.entries(request.labels ?? {}))
    lines.push(field('label', `${name}=${clip(text, 100)}`, paint));
  if (request.envNames.length > 0) lines.push(field('variables', clip(request.envNames.join(' '), 400), paint));
  return lines;
}

function decisionLines({ decision, state }: DispatchRecord, paint: Paint): string[] {
  const lines = [field('decision', decision.reason, paint)];
  if (decision.ok) {
    lines.push(field('', `${laneText({ ...decision, tier: null })}, weight ${decision.weight}`, paint));
  } else {
    // What waits was not deferred: it was only without a lane when it was decided last.
    const what = state === 'deferred' ? 'deferred' : 'no lane was open';
    lines.push(field('', `${what}: ${decision.reasonCode}`, paint));
  }
  if (decision.independence !== null) {
    const degraded = decision.ok && decision.degradedReview;
    const caveat = degraded ? ' (degraded: the reviewer shares the maker’s blind spots)' : '';
    lines.push(field('review', `${decision.independence}${caveat}`, paint));
  }
  for (const note of decision.notes) lines.push(field('note', note, paint));
  for (const one of decision.candidates)
    lines.push(field('candidate', candidateText(one, decision.facts[one.lane], paint), paint));
  return lines;
}

function candidateText(candidate: Candidate, facts: LaneFacts | undefined, paint: Paint): string {
  const { lane, state, percent, score } = candidate;
  // Its first word for itself is what stands in front of it already.
  const why = candidate.why.filter((word) => !word.startsWith(`${lane} ${state} (`));
  const used = percent === null ? '' : ` ${percent}%`;
  const because = why.length > 0 ? ` (${why.join('; ')})` : '';
  return `${lane}: ${paintLane(state, facts, Infinity, paint)}${used}, score ${shortNumber(score)}${because}`;
}

function attemptLines(attempt: PastAttempt, receipt: AttemptReceipt | undefined, paint: Paint, now: number): string[] {
  const how =
    attempt.outcome === 'ok'
      ? paint.green('ok')
      : paint.red(attempt.class === null ? attempt.outcome : `${attempt.outcome}: ${attempt.class}`);
  const what = `attempt ${attempt.attempt} on ${laneText({ ...attempt, tier: null })}, node ${attempt.node}`;
  const took = durationText(attempt.endedAt - attempt.startedAt);
  const lines = [`${secondText(attempt.startedAt, now)}  ${what}: ${how} after ${took}`];
  if (attempt.words) lines.push(field('said', clip(attempt.words, 300), paint));
  if (attempt.resetsAt) lines.push(field('resets', momentText(attempt.resetsAt, now), paint));
  if (attempt.exitCode !== null || attempt.signal !== null)
    lines.push(field('exit', attempt.signal ?? String(attempt.exitCode), paint));
  if (attempt.usage)
    lines.push(field('tokens', `${attempt.usage.inputTokens} in, ${attempt.usage.outputTokens} out`, paint));
  if (attempt.session) lines.push(field('session', attempt.session, paint));
  if (receipt?.adopted) lines.push(field('note', 'adopted: its worker was restarted while it ran', paint));
  if (receipt?.endpoint) lines.push(field('endpoint', receipt.endpoint, paint));
  if (receipt?.diff)
    lines.push(field('tree', `${diffText(receipt.diff.before)} before, ${diffText(receipt.diff.after)} after`, paint));
  for (const note of receipt?.notes ?? []) lines.push(field('note', note, paint));
  if (attempt.next !== '') lines.push(field('then', attempt.next, paint));
  return lines;
}

function standing(record: DispatchRecord, waiting: ShowData['waiting'], paint: Paint, now: number): string[] {
  const lines: string[] = [];
  if (record.state === 'running' && record.startedAt !== null) {
    const where = `${record.lane ?? '?'}, node ${record.node ?? '?'}`;
    const so = `attempt ${record.attempt} runs on ${where}, for ${durationText(now - record.startedAt)}`;
    lines.push(`${secondText(record.startedAt, now)}  ${so}`);
  }
  if (record.progress) lines.push(...progressLines(record.progress, paint, now));
  if (record.state === 'retrying' && record.notBefore !== null)
    lines.push(`next attempt not before ${momentText(iso(record.notBefore), now)}`);
  if (waiting) lines.push(waitingText(waiting, now));
  if (record.endedAt !== null) {
    const took = durationText(record.endedAt - record.submittedAt);
    lines.push(`${secondText(record.endedAt, now)}  ${paintState(record.state, paint)} after ${took}`);
  }
  if (record.error)
    lines.push(
      field('error', `${byTheClock(record.error.message, now)} [${record.error.code}]`, paint),
      ...(record.error.details ?? []).map((detail) => field('', byTheClock(detail, now), paint)),
    );
  if (record.needsLook)
    lines.push(paint.yellow('it may have written files: look at its folder before you run it again'));
  if (record.state === 'succeeded') lines.push(field('answer', `cmo result ${record.id}`, paint));
  return lines;
}

/** `3 files +12 −4, 1 untracked`, from the commit that stood there at the start. */
function diffText({ files, insertions, deletions, untracked }: DiffStat): string {
  const more = untracked > 0 ? `, ${untracked} untracked` : '';
  return `${counted(files, 'file')} +${insertions} −${deletions}${more}`;
}

function progressLines(progress: Progress, paint: Paint, now: number): string[] {
  const tools = Object.entries(progress.tools).map(([name, count]) => `${name} ×${count}`);
  const lines = [field('so far', doneSoFar(shownProgress(progress, now)), paint)];
  if (tools.length > 0) lines.push(field('tools', clip(tools.join(', '), 200), paint));
  if (progress.session !== null) lines.push(field('session', progress.session, paint));
  return lines;
}

const NAME_WIDTH = 10;
/** Where the text of a field begins. */
export const FIELD_INDENT = NAME_WIDTH + 3;

function field(name: string, text: string, paint: Paint): string {
  return `  ${paint.dim(name.padEnd(NAME_WIDTH))} ${text}`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
