import type { FailureClass } from '#contract';
import type { RunPlan } from '#runner';
import { failureOf, outcomeOf, type RunEnd } from './attempt-lines.js';
import type { Resources } from './resources.js';

type Parts = Pick<Resources, 'costs' | 'log'>;

/** What was refused at the door has cost nothing, and says nothing about what an attempt costs that works. */
const COSTLESS: readonly FailureClass[] = [
  'usage_limit',
  'rate_limit',
  'auth',
  'environment',
  'model_unavailable',
  'overloaded',
];

/** From here on the run takes its share of what the meter rises by. Never waited for, never fails the run. */
export function measureBegan({ costs, log }: Parts, id: string, plan: RunPlan): void {
  costs
    .time()
    .then(({ now }) =>
      costs.ledgers.began(plan.account, id, { lane: plan.lane, tier: plan.tier, model: plan.model, from: now }),
    )
    .catch((error: unknown) => log.warn({ attempt: id, error: String(error) }, 'the cost of a run is not measured'));
}

export function measureEnded({ costs, log }: Parts, id: string, plan: RunPlan, end: RunEnd): void {
  const failure = failureOf(end);
  if (failure !== null && COSTLESS.includes(failure.class)) {
    costs.ledgers.dropped(plan.account, id);
    return;
  }
  costs
    .time()
    .then(({ offsetMs }) =>
      costs.ledgers.ended(plan.account, id, {
        lane: plan.lane,
        tier: plan.tier,
        model: plan.model,
        from: end.startedAt + offsetMs,
        to: end.endedAt + offsetMs,
      }),
    )
    .catch((error: unknown) => log.warn({ attempt: id, error: String(error) }, 'the cost of a run is not measured'));
}

/**
 * `meter-disagreed`: the vendor called the window used up while the meter, its own last word on this run read, shows
 * room. Common on both vendors; the refusal counts all the same.
 */
export async function meterNotes(
  { gate, config }: Pick<Resources, 'gate' | 'config'>,
  plan: RunPlan,
  end: RunEnd,
): Promise<string[]> {
  if (outcomeOf(end) === 'ok' || failureOf(end)?.class !== 'usage_limit') return [];
  const { windows, reading } = await gate.snapshot(plan.account);
  const most = Math.max(...windows.map(({ usedPercent }) => usedPercent));
  const showsRoom =
    reading !== null && reading.reached === null && windows.length > 0 && most < config.pressure.exhausted;
  return showsRoom ? [`meter-disagreed: it showed ${Number(most.toFixed(1))} %`] : [];
}
