import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CmoError, dispatchId, errorBody, policyConfig, type Config, type DispatchClass, type DispatchRequest } from '#contract';
import { checkRequest } from '#policy/read-request';
import type { Problem } from '#policy/problem';
import type { Context } from '../command.js';
import type { Values } from '../flags/flag.js';
import { wrongValues } from '../flags/parse.js';
import { environmentFor } from './environment.js';
import { readPrompt } from './prompt.js';
import { sixteenRandomBytes } from './random.js';
import { readSchemaFile } from './schema-file.js';
import { TASK_FLAGS } from './task-flags.js';

export type TaskValues = Values<typeof TASK_FLAGS>;
export type Door = { command: 'run' | 'submit'; class: DispatchClass; maxWaitMs: number | null };

/**
 * The request of one task: everything that the caller can have said wrong is refused here, before anything is started
 * or stored; what only the daemon can know (its lanes, its roots) it refuses itself. The prompt is read last, since
 * stdin may take its time.
 */
export async function buildRequest(values: TaskValues, door: Door, config: Config, context: Context): Promise<DispatchRequest> {
  const cwd = resolve(context.cwd, values.cwd ?? '.');
  const told: Omit<DispatchRequest, 'id' | 'prompt' | 'env'> = {
    cwd,
    ...pick(values, 'role', 'complexity', 'length', 'contextTokens', 'write', 'readOnly', 'independentOf', 'strictIndependence', 'pin', 'model', 'attempts', 'fullAccess', 'retryWrites'),
    ...(values.timeout !== undefined && { timeoutMs: values.timeout }),
    ...(values.noFailover && { failover: false }),
    class: values.class ?? door.class,
    maxWaitMs: values.maxWait === undefined ? door.maxWaitMs : values.maxWait,
    ...(values.label && { labels: Object.fromEntries(values.label.map(({ name, value }) => [name, value ?? ''])) }),
    ...(context.env['CMO_ATTEMPT'] && { parent: context.env['CMO_ATTEMPT'] }),
  };
  refuseProblems(door.command, checkRequest({ ...told, id: '', prompt: '-', env: {} }, policyConfig(config)));
  checkFolder(cwd);
  if (values.fullAccess && !config.allowFullAccess) throw new CmoError(errorBody('CMO_E_NOT_PERMITTED', '--full-access is not allowed here', { fix: 'set "allowFullAccess": true in the config file, on a box that you are willing to let an agent write to' }));
  const schema = values.schema === undefined ? undefined : readSchemaFile(resolve(context.cwd, values.schema));
  const env = environmentFor(values.env ?? [], config, context);
  const prompt = await readPrompt({ ...pick(values, 'prompt'), ...(values.promptFile !== undefined && { promptFile: values.promptFile === '-' ? '-' : resolve(context.cwd, values.promptFile) }) }, context);
  return { ...told, id: dispatchId(context.now(), await sixteenRandomBytes()), prompt, env, ...(schema !== undefined && { schema }) };
}

function checkFolder(cwd: string): void {
  let stat;
  try {
    stat = statSync(cwd, { throwIfNoEntry: false });
  } catch (error) {
    throw new CmoError(errorBody('CMO_E_CWD', `the working directory can't be entered: ${cwd}`, { details: [(error as Error).message] }));
  }
  if (!stat) throw new CmoError(errorBody('CMO_E_CWD', `the working directory does not exist: ${cwd}`));
  if (!stat.isDirectory()) throw new CmoError(errorBody('CMO_E_CWD', `the working directory is not a folder: ${cwd}`));
}

function refuseProblems(command: string, problems: readonly Problem[]): void {
  const [first] = problems;
  if (!first) return;
  const contradictions = problems.every(({ code }) => code === 'CMO_E_UNSATISFIABLE');
  if (contradictions) throw new CmoError(errorBody('CMO_E_UNSATISFIABLE', `these can't go together: ${first.seen}`, { details: problems.map(({ seen, allowed }) => `saw: ${seen}; allowed: ${allowed}`) }));
  throw new CmoError(wrongValues(command, problems.map(({ field, seen, allowed, nearest }) => ({ flag: flagOf(field), seen, allowed, nearest }))));
}

function flagOf(field: string): string {
  const flags = new Map<string, { name: string }>(Object.entries(TASK_FLAGS));
  return flags.get(field)?.name ?? flags.get(field.replace(/Ms$/, ''))?.name ?? field;
}

/** The named members that are there. */
function pick<T extends object, K extends keyof T>(values: T, ...keys: K[]): { [P in K]?: Exclude<T[P], undefined> } {
  return Object.fromEntries(keys.flatMap((key) => (values[key] === undefined ? [] : [[key, values[key]]]))) as { [P in K]?: Exclude<T[P], undefined> };
}
