import { CLASSES, MOMENT, NUMBERS, parseMoment, type DispatchRequest, type PolicyConfig, type Task } from '#contract';
import { checkAccess } from './access.js';
import { checkNumber, contradiction, unknownWord, wrongValue, type Problem } from './problem.js';
import { readTask } from './read-task.js';

/** The policy's view of a request. `needsRepoWrite` is `--write` alone: access by role does not raise a tier. */
export function taskOf(
  request: Omit<DispatchRequest, 'id' | 'prompt' | 'cwd' | 'env' | 'schema'> & {
    schema?: unknown;
    hasSchema?: boolean;
    schemaRefusedBy?: string[];
  },
): Task {
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
    ...(request.schemaRefusedBy === undefined ? {} : { schemaRefusedBy: request.schemaRefusedBy }),
  };
}

/**
 * Everything the policy can refuse about one request, all at once; paths, schemas and environment are the doors' own
 * checks.
 */
export function checkRequest(request: DispatchRequest, config: PolicyConfig): Problem[] {
  const problems: Problem[] = [];
  if (request.prompt.trim() === '') {
    problems.push({ code: 'CMO_E_EMPTY_TASK', field: 'prompt', seen: 'nothing', allowed: 'a task', nearest: null });
  }
  const reading = readTask(taskOf(request), config);
  if (!reading.ok)
    problems.push(
      ...reading.problems.map((problem) => ({
        ...problem,
        field: problem.field === 'pinModel' ? 'model' : problem.field,
      })),
    );
  problems.push(...checkAccess(request), ...checkNode(request));
  if (request.reviewOf !== undefined && request.independentOf !== undefined) {
    problems.push(
      contradiction(
        'reviewOf',
        '--review-of and --independent-of together',
        '--review-of alone: whose vendor made the thing is read from its record',
      ),
    );
  }
  for (const field of ['timeoutMs', 'attempts', 'maxWaitMs', 'ttlMs'] as const) {
    const value = request[field];
    const problem = value === undefined || value === null ? null : checkNumber(field, value, NUMBERS[field]);
    if (problem !== null) problems.push(problem);
  }
  for (const field of ['notBefore', 'deadline'] as const) {
    const value: unknown = request[field];
    if (value !== undefined && (typeof value !== 'string' || parseMoment(value, 0) === null))
      problems.push(wrongValue(field, value, MOMENT));
  }
  if (request.class !== undefined && !CLASSES.includes(request.class))
    problems.push(unknownWord('class', request.class, CLASSES));
  for (const field of ['write', 'readOnly', 'failover', 'fullAccess', 'retryWrites', 'exclusive'] as const) {
    const value: unknown = request[field];
    if (value !== undefined && typeof value !== 'boolean') problems.push(wrongValue(field, value, 'true or false'));
  }
  return problems;
}

/** What any node may do has no folder, and nothing to write to. */
function checkNode({ node, cwd, write, fullAccess, exclusive }: DispatchRequest): Problem[] {
  if (node === undefined) return [];
  if (node !== 'any') return [unknownWord('node', node, ['any'])];
  const [first] = Object.entries({
    '--cwd': cwd !== '',
    '--write': write === true,
    '--full-access': fullAccess === true,
    '--exclusive': exclusive === true,
  }).filter(([, said]) => said);
  return first === undefined
    ? []
    : [contradiction('node', `--node any with ${first[0]}`, `no ${first[0]}: it is text work, without a folder`)];
}
