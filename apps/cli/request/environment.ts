import { CmoError, errorBody, type Config } from '#contract';
import { captureEnvironment } from '#vendors/environment';
import type { Context } from '../command.js';
import type { NamedValue } from '../flags/readers.js';

/**
 * The sender's own environment, reduced to the allow-list, with what `--env` and the lanes' passEnv name. A name that
 * would bill elsewhere, or that is not set here, is refused: the agent would run without what it was promised.
 */
export function environmentFor(asked: readonly NamedValue[], config: Config, { env }: Context): Record<string, string> {
  const passed = config.lanes.flatMap((lane) =>
    lane.passEnv
      .filter((name) => Object.hasOwn(env, name) && env[name] !== undefined)
      .map((name) => ({ name, from: `lanes.${lane.id}.passEnv` })),
  );
  const byName = asked.flatMap(({ name, value }) => (value === null ? [name] : []));
  const byValue = asked.flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const]));
  const { env: captured, refused } = captureEnvironment(
    { ...env },
    { names: [...new Set([...passed.map(({ name }) => name), ...byName])], values: Object.fromEntries(byValue) },
  );
  if (refused.length > 0) {
    const lines = refused.map(
      ({ name, why }) => `${passed.find((one) => one.name === name)?.from ?? '--env'} ${name}: ${why}`,
    );
    const [first = ''] = lines;
    throw new CmoError(
      errorBody('CMO_E_NOT_PERMITTED', lines.length === 1 ? first : `${lines.length} variables can't be passed`, {
        details: lines.length === 1 ? [] : lines,
        fix: 'leave it out; `cmo help run` says what --env takes',
      }),
    );
  }
  return captured;
}
