export { classify } from './classify.js';
export { SILENT_CHANNEL } from './facts.js';
export type { Channel, FirstStep, RejectedWindow, RunFacts, Verdict, VendorCli } from './facts.js';
export { firstStep } from './first-step.js';
export { LONGEST_WINDOW_MS, RESET_SLACK_MS, plainText, statedReset, windowLength } from './reset-time.js';
export { WHOLE_OUTPUT_TEXTS, textClass } from './texts.js';
