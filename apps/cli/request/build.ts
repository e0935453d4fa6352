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
  const sandbox = sandboxed(told);
  const outline = present<Outline>({
    cwd,
    node: values.node,
    role: values.role,
    complexity: values.complexity,
    length: values.length,
    contextTokens: values.contextTokens,
    write: sandbox.write ?? values.write,
    readOnly: sandbox.readOnly ?? values.readOnly,
    fullAccess: sandbox.fullAccess ?? values.fullAccess,
    independentOf: values.independentOf,
    reviewOf: values.reviewOf,
    strictIndependence: values.strictIndependence,
    pin: values.pin,
    model: values.model,
    timeoutMs: values.timeout,
    attempts: values.attempts,
    failover: values.noFailover ? false : undefined,
    retryWrites: values.retryWrites,
    exclusive: values.exclusive,
    class: values.class ?? door.class,
    maxWaitMs: values.maxWait === undefined ? door.maxWaitMs : values.maxWait,
    once: values.once,
    notBefore: values.notBefore,
    ttlMs: values.ttl,
    deadline: values.deadline,
    batch: values.batchName ?? door.batch,
    labels: values.label && Object.fromEntries(values.label.map(({ name, value }) => [name, value ?? ''])),
    parent: context.env['CMO_ATTEMPT'] || undefined,
  });
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

/** @param label where it was said, for the refusal; not told of --cwd itself */
function checkFolder(cwd: string, label: string): void {
  const refuse = (what: string, details: string[] = []): never => {
    const where = label === '--cwd' ? cwd : `${cwd} (${label})`;
    throw new CmoError(errorBody('CMO_E_CWD', `the working directory ${what}: ${where}`, { details }));
  };
  let stat;
  try {
    stat = statSync(cwd, { throwIfNoEntry: false });
  } catch (error) {
    return refuse("can't be entered", [(error as Error).message]);
  }
  if (!stat) return refuse('does not exist');
  if (!stat.isDirectory()) refuse('is not a folder');
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

/** Every member has to be named, and is left out where nothing was said: none can be forgotten here. */
function present<T extends object>(members: { [K in keyof T]-?: Said<T, K> }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
type Said<T, K extends keyof T> = T[K] | (object extends Pick<T, K> ? undefined : never);
