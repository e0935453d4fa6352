/**
 * The prompt of an agent that takes over interrupted work. The work was cut off in the middle of an action, and only a
 * look at its effects can say how far it came.
 */

/** In its own session, which holds the task and all that was done. */
export function resumeNotice(): string {
  return [
    'You were cut off in the middle of this task, and this is the same session.',
    'Your last action may have taken effect wholly, partly, or not at all: look before you do anything again.',
    'Then go on from there and finish the task as it was given. Nothing that you said so far has reached anybody, so your final answer must be complete by itself.',
  ].join('\n');
}

/** @param problems what is wrong with the answer, a line or two */
export function repairNotice(problems: string): string {
  return [
    'Your answer cannot be used: it does not fit the JSON Schema that was asked for.',
    `What is wrong: ${problems}`,
    'Give the whole answer again as one JSON value that fits the schema, and nothing beside it. Correct its form; do no further work on the task.',
  ].join('\n');
}

/**
 * On another lane, behind the task itself.
 * @param from the lane that had it before @param partial what it had said until it was cut off, null when nothing is
 * known
 */
export function continuedNotice(from: string, partial: string | null): string {
  const lines = [
    `Notice. Another agent (lane ${from}) had begun this task and was cut off. It may have changed files in the working directory already.`,
    'Look at what is there first (a diff, if it is a repository). Keep what is right, fix what is half done, and do nothing twice.',
  ];
  if (partial !== null) lines.push('What it had said until then, which is unchecked:', '', partial);
  return lines.join('\n');
}

/** A text that a dead run left behind: never the whole, and it must not be taken for it wherever it is cut out. */
export function incomplete(text: string, why: string): string {
  return `[incomplete output: ${why}]\n${text}\n[incomplete output ends]`;
}
