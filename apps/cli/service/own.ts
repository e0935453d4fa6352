import { join } from 'node:path';
import { loadConfig, processOptions } from '#config';
import { daemonCommand, daemonProgram, lookForDaemon } from '#daemon/client';
import type { Context } from '../command.js';
import { configOrRefusal } from '../request/config.js';
import { define, namedBy, type Defined, type Named } from './definition.js';

/** What a service installed by this program from this shell would be. */
export function ownDefinition(context: Context): Defined {
  const { env, paths } = context;
  const config = configOrRefusal(context);
  const file = loadConfig(processOptions({ ...env, CMO_REDIS_URL: undefined, CMO_FLEET_TOKEN: undefined }));
  return define({
    command: ownCommand(context),
    program: daemonProgram(),
    state: paths.state,
    words: join(paths.logs, 'daemon.err'),
    env,
    config,
    fileConfig: file.ok ? file.config : null,
  });
}

export function ownNames(context: Context): Named {
  return (
    namedBy(ownCommand(context)) ?? { node: process.execPath, program: daemonProgram(), state: context.paths.state }
  );
}

function ownCommand({ paths }: Context): string[] {
  return daemonCommand(daemonProgram(), paths.state, true);
}

/** Whether the daemon that is at work was started by a service. */
export async function isRunByService({ paths }: Context): Promise<boolean> {
  const seen = await lookForDaemon(paths);
  return seen.kind === 'ready' && seen.serviceProgram !== null;
}
