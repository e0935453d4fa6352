export { decide } from './decide.js';
export { deferral } from './deferral.js';
export { waitingLane } from './waiting-lane.js';
export { explainDecision, type Explained } from './explain.js';
export { confirm, type Confirmation } from './confirm.js';
export { nextStep, actionOf } from './next-step.js';
export { VIOLENT_ENDS, backOffMs } from './budget.js';
export { weightOf } from './weight.js';
export { tierOf } from './tier.js';
export { laneState, opensAt, percentOf } from './bands.js';
export { offerOf, type Offer, type PolicyLane } from './models.js';
export { inScope } from './scope.js';
export { producerVendor } from './independence.js';
export { independenceNotice } from './notice.js';
export { continuedNotice, incomplete, repairNotice, resumeNotice } from './take-up.js';
export { accessOf } from './access.js';
export { clearsAt, laneFactsOf, nextReset, percentFor, worstAccountWide } from './windows.js';
export { policyConfigOf, type PolicyConfigReading } from './policy-config.js';
export { readTask, readTaskValues, contradictionsOf, type TaskReading } from './read-task.js';
export { readFacts, type FactsReading } from './read-facts.js';
export { checkRequest, taskOf } from './read-request.js';
export { shown, unknownWord, wrongValue, type Problem } from './problem.js';
export { nearest } from './nearest.js';
export {
  costOf,
  EMPTY_LEDGER,
  readingTaken,
  runBegan,
  runDropped,
  runEnded,
  MOST_SAMPLES,
  type CostLedger,
  type CostReading,
  type CostRun,
  type CostRunFacts,
  type CostSample,
} from './cost-estimate.js';
export { factsOfLimits, LIMITS_STALE_MS, windowsOfMeter } from './limits-facts.js';
