import type { FailureClass } from '#contract';
import type { FirstStep } from './facts.js';

/**
 * First step per class, for access read or a start that failed, with attempts left and another lane free. What follows
 * it, and what a writer may do, is nextStep's.
 */
const STEPS: Record<FailureClass, Exclude<FirstStep, 'none'>> = {
  rate_limit: 'switch',
  usage_limit: 'switch',
  auth: 'switch',
  transient: 'retry_same',
  overloaded: 'retry_same',
  timeout: 'switch',
  silence: 'switch',
  deterministic: 'fail',
  schema: 'retry_same',
  killed: 'retry_same',
  model_unavailable: 'switch',
  content_refused: 'fail',
  environment: 'switch',
};

export function firstStep(failure: FailureClass, boxWide: boolean): Exclude<FirstStep, 'none'> {
  return boxWide ? 'fail' : STEPS[failure];
}
