import { CLASSES, type DispatchRequest, type PolicyConfig, type Task } from '#contract';
import { checkAccess } from './access.js';
import { checkNumber, unknownWord, wrongValue, type Problem } from './problem.js';
import { readTask } from './read-task.js';

const HOUR = 3_600_000;

/** Ceilings for what comes from outside: generous for work, too small for a slip of digits. Times in ms. */
export const REQUEST_NUMBERS = {
  timeoutMs: { min: 1_000, max: 7 * 24 * HOUR, whole: true },
  attempts: { min: 1, max: 100, whole: true },
  maxWaitMs: { min: 0, max: 31 * 24 * HOUR, whole: true },
} as const;

/** The policy's view of a request. `needsRepoWrite` is `--write` alone: access by role does not raise a tier. */
export function taskOf(request: Omit<DispatchRequest, 'id' | 'prompt' | 'cwd' | 'env' | 'schema'> & { schema?: unknown; hasSchema?: boolean }): Task {
  const { role, complexity, length, contextTokens, write, independentOf, strictIndependence, pin, model } = request;
  return {
    ...(role === undefined ? {} : { role }),
    ...(complexity === undefined ? {} : { complexity }),
    ...(length === undefined ? {} : { length }),
    ...(contextTokens === undefined ? {} : { contextTokens }),
    needsSchema: request.hasSchema ?? request.schema !== undefined,
    needsRepoWrite: write ?? false,
    ...(independentOf === undefined ? {} : { independentOf }),
    ...(strictIndependence === undefined ? {} : { strictIndependence }),
    ...(pin === undefined ? {} : { pin }),
    ...(model === undefined ? {} : { pinModel: model }),
  };
}

/** Everything the policy can refuse about one request, all at once; paths, schemas and environment are the doors' own checks. */
export function checkRequest(request: DispatchRequest, config: PolicyConfig): Problem[] {
  const problems: Problem[] = [];
  if (request.prompt.trim() === '') {
    problems.push({ code: 'CMO_E_EMPTY_TASK', field: 'prompt', seen: 'nothing', allowed: 'a task', nearest: null });
  }
  const reading = readTask(taskOf(request), config);
  if (!reading.ok) problems.push(...reading.problems.map((problem) => ({ ...problem, field: problem.field === 'pinModel' ? 'model' : problem.field })));
  problems.push(...checkAccess(request));
  for (const field of ['timeoutMs', 'attempts', 'maxWaitMs'] as const) {
    const value = request[field];
    const problem = value === undefined || value === null ? null : checkNumber(field, value, REQUEST_NUMBERS[field]);
    if (problem !== null) problems.push(problem);
  }
  if (request.class !== undefined && !CLASSES.includes(request.class)) problems.push(unknownWord('class', request.class, CLASSES));
  for (const field of ['write', 'readOnly', 'failover', 'fullAccess', 'retryWrites'] as const) {
    const value: unknown = request[field];
    if (value !== undefined && typeof value !== 'boolean') problems.push(wrongValue(field, value, 'true or false'));
  }
  return problems;
}
