import { CmoError, type Config } from '#contract';
import { configError, loadConfig, processOptions } from '#config/load';
import type { Context } from '../command.js';

/** The configuration, or the refusal that lists everything wrong with it. */
export function configOrRefusal({ env }: Context): Config {
  const loaded = loadConfig(processOptions(env));
  if (!loaded.ok) throw new CmoError(configError(loaded.diagnostics));
  return loaded.config;
}
