/**
 * The notice in front of a degraded reviewer's task. Without it a grader of the same model family takes its own habits
 * for good sense.
 *
 * @param vendor made the artifact and now grades it
 */
export function independenceNotice(vendor: string): string {
  return [
    `Independence notice. You and the author of the work below are models of one vendor (${vendor}), because no other vendor's model could be had.`,
    'You were trained alike, so what the author overlooked you are likely to overlook too, and what it found convincing will look convincing to you.',
    'Therefore:',
    '- Take the acceptance criteria one at a time. For each, say what you looked at, what you found, and whether it is met; give no overall impression in their place.',
    '- Where you are in doubt, decide against the work. A claim you could not verify counts as not met.',
    '- Run or read the thing itself rather than its description wherever you can.',
    '- End with a list of what you did not check, and why.',
    'Your verdict goes on record as same-vendor, and may be repeated by a model of another vendor.',
  ].join('\n');
}
