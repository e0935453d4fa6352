import { cliVersion } from '#runner/cli-version';

/** How long a receipt waits for it, ms: both CLIs answer within one or two, on a busy box too. */
const BOUND_MS = 3_000;
/** A CLI that gave no answer is not asked again for this long, ms. */
const FORGET_MS = 600_000;

/** The version of a CLI whose run did not tell it; null where it does not tell it either. */
export interface CliVersions {
  of(cli: string, environment: Readonly<Record<string, string>>): Promise<string | null>;
}

/** Asked once for each state of the program's file: most runs name their version themselves. */
export function cliVersions(clock: () => number): CliVersions {
  const silent = new Map<string, number>();
  return {
    async of(cli, environment) {
      if ((silent.get(cli) ?? -Infinity) > clock() - FORGET_MS) return null;
      // Without the mark: this process is not the attempt's, and must not be killed with it.
      const { CMO_ATTEMPT: _mark, ...env } = environment;
      const answer = await cliVersion(cli, { env, boundMs: BOUND_MS });
      if (answer.ok) return answer.version;
      silent.set(cli, clock());
      return null;
    },
  };
}
