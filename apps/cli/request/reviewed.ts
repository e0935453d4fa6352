import { CmoError, errorBody, policyConfig, type Config } from '#contract';
import { contradictionsOf } from '#policy/read-task';
import { listReceipts } from '#receipts/read';
import { taskOf } from '#policy/read-request';
import type { Context } from '../command.js';
import type { Outline } from './build.js';

/** For a plan, which asks no daemon: the vendor that made what is reviewed, as its receipt on this box tells it. */
export async function withReviewedVendor(outline: Outline, config: Config, { paths }: Context): Promise<Outline> {
  const { reviewOf } = outline;
  if (reviewOf === undefined) return outline;
  const line = (await listReceipts(paths.receipts, { dispatch: reviewOf })).find(({ kind }) => kind === 'dispatch');
  if (line?.kind !== 'dispatch')
    throw new CmoError(
      errorBody(
        'CMO_E_NO_DISPATCH',
        `--review-of ${reviewOf}: no receipt of it on this box, so who made it is not known here`,
        { fix: '`cmo show` says whether it has ended' },
      ),
    );
  if (!line.ok || line.vendor === null)
    throw new CmoError(
      errorBody('CMO_E_UNSATISFIABLE', `--review-of ${reviewOf}: it has no output, it ended ${line.state}`),
    );
  const reviewed = { ...outline, independentOf: line.vendor };
  const [problem] = contradictionsOf(taskOf(reviewed), policyConfig(config));
  if (problem)
    throw new CmoError(
      errorBody('CMO_E_UNSATISFIABLE', `these can't go together: ${problem.seen}`, {
        details: [`allowed: ${problem.allowed}`],
      }),
    );
  return reviewed;
}
