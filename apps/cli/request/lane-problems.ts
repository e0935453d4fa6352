import type { Config } from '#contract';
import { isBillingName } from '#vendors/billing-names';
import { endpointOf } from '#vendors/endpoint';

/**
 * What a lane may not be set to, which only the vendors' library can tell: where its money and its prompts would go.
 */
export function laneProblems({ lanes }: Config): string[] {
  return lanes.flatMap((lane) => {
    const away = endpointOf(lane)?.error;
    const passed = lane.passEnv
      .filter(isBillingName)
      .map(
        (name) =>
          `lanes.${lane.id}.passEnv names ${name}, which would bill another account: only lanes.${lane.id}.env may set it`,
      );
    return [...(away ? [away] : []), ...passed];
  });
}
