import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  CmoError,
  dispatchId,
  errorBody,
  policyConfig,
  type Config,
  type DispatchClass,
  type DispatchRequest,
} from '#contract';
import { accessOf } from '#policy/access';
import { checkRequest } from '#policy/read-request';
import type { Problem } from '#policy/problem';
import type { Context } from '../command.js';
import { wrongValues } from '../flags/parse.js';
import { momentText } from '../output/time-text.js';
import { environmentFor } from './environment.js';
import { sixteenRandomBytes } from './random.js';
import { readSchemaFile } from './schema-file.js';
import { TASK_FLAGS } from './task-flags.js';
import type { TaskSource } from './task-source.js';
import type { TaskValues, Told } from './told.js';

export type Door = {
  command: 'run' | 'submit' | 'plan';
  class: DispatchClass;
  maxWaitMs: number | null;
  /** The batch it is submitted with. */
  batch?: string;
};

/** A request as far as it can be told without its text, its sender's environment and a look at the schema's file. */
export type Outline = Omit<DispatchRequest, 'id' | 'prompt' | 'env' | 'schema'>;

/**
 * The request of one task: everything that the caller can have said wrong is refused here, before anything is started
 * or stored; what only the daemon can know (its lanes, its roots) it refuses itself. The prompt is read last, since
 * stdin may take its time.
 */
export async function buildRequest(
  source: TaskSource,
  door: Door,
  config: Config,
  context: Context,
): Promise<DispatchRequest> {
  const { values } = source.told;
  const outline = outlineOf(source.told, door, config, context);
  const schema = schemaOf(values, context);
  const env = environmentFor(values.env ?? [], config, context);
  const prompt = await source.prompt();
  if (outline.reviewOf === undefined && prompt.includes('{{review.output}}'))
    context.output.note(
      context.paintNotes.yellow(
        'cmo: {{review.output}} stays in the task as it is: it is replaced only with --review-of',
      ),
    );
  // A duration is ahead of now whatever it is (and `90` a year to Date.parse); a moment may be a slip of the year.
  const from = /^\d{4}-\d\d-\d\d/.test(outline.notBefore ?? '') ? Date.parse(outline.notBefore ?? '') : NaN;
  if (from <= context.now())
    context.output.note(
      context.paintNotes.yellow(
        `cmo: ${labelOf(source.told, 'notBefore')} has passed, ${momentText(new Date(from).toISOString(), context.now())}: it starts as soon as it can`,
      ),
    );
  return {
    ...outline,
    id: dispatchId(context.now(), await sixteenRandomBytes()),
    prompt,
    env,
    ...(schema !== undefined && { schema }),
  };
}

/**
 * What was said of one task, checked: its words, numbers and contradictions, its folder, and what the config file
 * permits.
 */
export function outlineOf(told: Told, door: Door, config: Config, context: Context): Outline {
  const { values } = told;
  const cwd = values.node === undefined || values.cwd !== undefined ? resolve(context.cwd, values.cwd ?? '.') : '';
  const outline: Outline = {
    cwd,
    ...pick(
      values,
      'role',
      'complexity',
      'length',
      'contextTokens',
      'write',
      'readOnly',
      'independentOf',
      'reviewOf',
      'strictIndependence',
      'pin',
      'model',
      'attempts',
      'fullAccess',
      'retryWrites',
      'exclusive',
      'once',
      'notBefore',
      'deadline',
      'node',
    ),
    ...sandboxed(told),
    ...(values.timeout !== undefined && { timeoutMs: values.timeout }),
    ...(values.ttl !== undefined && { ttlMs: values.ttl }),
    ...(values.noFailover && { failover: false }),
    class: values.class ?? door.class,
    maxWaitMs: values.maxWait === undefined ? door.maxWaitMs : values.maxWait,
    ...(values.label && { labels: Object.fromEntries(values.label.map(({ name, value }) => [name, value ?? ''])) }),
    ...batchOf(values.batchName ?? door.batch),
    ...(context.env['CMO_ATTEMPT'] && { parent: context.env['CMO_ATTEMPT'] }),
  };
  refuseProblems(door.command, told, checkRequest({ ...outline, id: '', prompt: '-', env: {} }, policyConfig(config)));
  if (outline.node === undefined) checkFolder(cwd, labelOf(told, 'cwd'));
  if (outline.fullAccess && !config.allowFullAccess) {
    throw new CmoError(
      errorBody(
        'CMO_E_NOT_PERMITTED',
        `${labelOf(told, values.fullAccess ? 'fullAccess' : 'sandbox')} is not allowed here`,
        {
          fix: 'set "allowFullAccess": true in the config file, on a box that you are willing to let an agent write to',
        },
      ),
    );
  }
  return outline;
}

export function schemaOf({ schema }: TaskValues, context: Context): unknown {
  return schema === undefined ? undefined : readSchemaFile(resolve(context.cwd, schema));
}

/**
 * codex' words for what --read-only, --write and --full-access say. A role that writes anyway needs no `write`, which
 * counts in the decision.
 */
function sandboxed({ values, where }: Told): Partial<Outline> {
  const { sandbox, role } = values;
  if (sandbox === undefined) return {};
  if (sandbox === 'workspace-write' && values.fullAccess)
    throw new CmoError(
      errorBody('CMO_E_UNSATISFIABLE', `${labelOf({ values, where }, 'sandbox')} ${sandbox} and full access together`, {
        fix: 'say one of them',
      }),
    );
  switch (sandbox) {
    case 'read-only':
      return { readOnly: true };
    case 'danger-full-access':
      return { fullAccess: true };
    case 'workspace-write':
      return accessOf(role === undefined ? {} : { role }) === 'write' && !values.readOnly ? {} : { write: true };
  }
}

function batchOf(batch: string | undefined): { batch?: string } {
  return batch === undefined ? {} : { batch };
}

function checkFolder(cwd: string, label: string): void {
  let stat;
  try {
    stat = statSync(cwd, { throwIfNoEntry: false });
  } catch (error) {
    throw new CmoError(
      errorBody(
        'CMO_E_CWD',
        `the working directory can't be entered: ${cwd}${label === '--cwd' ? '' : ` (${label})`}`,
        { details: [(error as Error).message] },
      ),
    );
  }
  if (!stat)
    throw new CmoError(
      errorBody('CMO_E_CWD', `the working directory does not exist: ${cwd}${label === '--cwd' ? '' : ` (${label})`}`),
    );
  if (!stat.isDirectory())
    throw new CmoError(
      errorBody('CMO_E_CWD', `the working directory is not a folder: ${cwd}${label === '--cwd' ? '' : ` (${label})`}`),
    );
}

function refuseProblems(command: string, told: Told, problems: readonly Problem[]): void {
  const [first] = problems;
  if (!first) return;
  const contradictions = problems.every(({ code }) => code === 'CMO_E_UNSATISFIABLE');
  if (contradictions)
    throw new CmoError(
      errorBody('CMO_E_UNSATISFIABLE', `these can't go together: ${first.seen}`, {
        details: problems.map(({ seen, allowed }) => `saw: ${seen}; allowed: ${allowed}`),
      }),
    );
  throw new CmoError(
    wrongValues(
      command,
      problems.map(({ field, seen, allowed, nearest }) => ({ flag: labelOf(told, field), seen, allowed, nearest })),
    ),
  );
}

/** Where the member of a request was said: by a flag, or in a file. */
function labelOf({ where }: Told, field: string): string {
  const flags = new Map<string, { name: string }>(Object.entries(TASK_FLAGS));
  const member = flags.has(field) ? field : field.replace(/Ms$/, '');
  return where.get(member) ?? flags.get(member)?.name ?? field;
}

/** The named members that are there. */
function pick<T extends object, K extends keyof T>(values: T, ...keys: K[]): { [P in K]?: Exclude<T[P], undefined> } {
  return Object.fromEntries(keys.flatMap((key) => (values[key] === undefined ? [] : [[key, values[key]]]))) as {
    [P in K]?: Exclude<T[P], undefined>;
  };
}
