import type { LaneConfig } from '#contract';
import { captureEnvironment, childEnvironment } from '#vendors/environment';
import type { Context } from '../command.js';

/** What a run of this lane would see, without the mark of an attempt; for no lane, the allow-list alone. */
export function childEnvironmentFor({ env }: Context, lane: LaneConfig | null): Record<string, string> {
  const names = lane?.passEnv.filter((name) => Object.hasOwn(env, name)) ?? [];
  const submitted = captureEnvironment({ ...env }, { names, values: {} }).env;
  const child = childEnvironment({ submitted, lane: lane ?? { env: {}, passEnv: [] }, adapterEnv: {}, mark: '' });
  delete child['CMO_ATTEMPT'];
  return child;
}
