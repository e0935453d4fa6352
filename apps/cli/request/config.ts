import { CmoError, errorBody, type Config } from '#contract';
import { configError, loadConfig, processOptions, type Loaded } from '#config/load';
import type { Context } from '../command.js';
import { laneProblems } from './lane-problems.js';

/** The configuration, or the refusal that lists everything wrong with it. */
export function configOrRefusal(context: Context): Config {
  return loadedOrRefusal(context).config;
}

export function loadedOrRefusal({ env }: Context): Extract<Loaded, { ok: true }> {
  const loaded = loadConfig(processOptions(env));
  if (!loaded.ok) throw new CmoError(configError(loaded.diagnostics));
  const problems = laneProblems(loaded.config);
  if (problems.length > 0) throw new CmoError(errorBody('CMO_E_CONFIG', undefined, { details: problems }));
  return loaded;
}
