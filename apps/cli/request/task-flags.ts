import { CLASSES, LENGTHS, NUMBERS, ROLES } from '#contract';
import { on, OUTPUT_FLAGS, repeated, valued, type Flags } from '../flags/flag.js';
import {
  anyText,
  batchName,
  dispatch,
  duration,
  durationOrForever,
  label,
  line,
  model,
  moment,
  onceKey,
  variable,
  whole,
  word,
} from '../flags/readers.js';

/** The words of the tool that people come from, and of codex. */
const SANDBOXES = ['read-only', 'workspace-write', 'danger-full-access'] as const;

/** What a person can say of one task, to `run`, `submit` and `plan`; most of it in a dispatch file too. */
export const TASK_FLAGS = {
  dispatch: valued(
    '--dispatch',
    'FILE',
    line('the path of a file'),
    'the task and its settings, from a dispatch file (- is stdin)',
  ),
  prompt: valued('--prompt', 'TEXT', anyText(), 'the task; better on stdin, where ps does not show it'),
  promptFile: valued('--prompt-file', 'FILE', line('the path of a file'), 'the task, from a file (- is stdin)'),
  role: valued('--role', 'ROLE', word(ROLES), `${ROLES.join(', ')} (default implement)`),
  complexity: valued(
    '--complexity',
    '1..5',
    whole(NUMBERS.complexity.min, NUMBERS.complexity.max),
    'how hard it is (default 3)',
  ),
  length: valued('--length', 'SIZE', word(LENGTHS), `${LENGTHS.join(', ')}: how long the answer (default m)`),
  contextTokens: valued(
    '--context-tokens',
    'N',
    whole(NUMBERS.contextTokens.min, NUMBERS.contextTokens.max),
    'how many tokens it has to read (default 0)',
  ),
  write: on('--write', 'it may change files, whatever its role'),
  readOnly: on('--read-only', 'it may not change files, whatever its role'),
  schema: valued('--schema', 'FILE', line('the path of a file'), 'the answer must fit this JSON Schema'),
  independentOf: valued(
    '--independent-of',
    'LANE',
    line('a lane or a vendor'),
    'grade on another vendor than this one',
  ),
  reviewOf: valued(
    '--review-of',
    'ID',
    dispatch,
    'grade what that dispatch made, on another vendor; {{review.output}} in the task is replaced by it',
  ),
  strictIndependence: on('--strict-independence', 'defer rather than grade on the same vendor'),
  pin: valued('--pin', 'LANE', line('a lane'), 'this lane only'),
  model: valued('--model', 'ID', model, 'this model of the chosen lane'),
  node: valued(
    '--node',
    'any',
    word(['any'] as const),
    'text work that needs no folder, on whichever box has room first',
  ),
  cwd: valued('--cwd', 'FOLDER', line('the path of a folder'), 'where the agent works (default: here)'),
  timeout: valued(
    '--timeout',
    'SEC',
    duration(NUMBERS.timeoutMs.min, NUMBERS.timeoutMs.max),
    'wall clock of one attempt (default 1200; also 20m, 2h)',
  ),
  attempts: valued(
    '--attempts',
    'N',
    whole(NUMBERS.attempts.min, NUMBERS.attempts.max),
    'attempts on each lane, whatever they fail of, in place of the retry budgets',
  ),
  noFailover: on('--no-failover', 'stay on the first lane; while it is closed, wait or defer'),
  fullAccess: on('--full-access', 'no sandbox at all; must be allowed in the config file'),
  sandbox: valued(
    '--sandbox',
    'WORD',
    word(SANDBOXES),
    `${SANDBOXES.join(', ')}: the same as --read-only, --write, --full-access`,
  ),
  retryWrites: on('--retry-writes', 'run an agent again even if it may have written files'),
  exclusive: on('--exclusive', 'be the only writer in its folder: wait for others there, and make them wait'),
  class: valued(
    '--class',
    'CLASS',
    word(CLASSES),
    `${CLASSES.join(', ')}: who goes first (default: interactive at a terminal, else normal)`,
  ),
  maxWait: valued(
    '--max-wait',
    'DUR',
    durationOrForever(NUMBERS.maxWaitMs.min, NUMBERS.maxWaitMs.max),
    'wait at most this long for a window: 90, 15m, 8h, 2d, forever',
  ),
  once: valued('--once', 'KEY', onceKey, 'the same key and task give the same dispatch, until 7 days after it ended'),
  notBefore: valued('--not-before', 'WHEN', moment, 'do not start earlier: 15m, 8h, 03:00, 2026-12-01T03:00'),
  ttl: valued(
    '--ttl',
    'DUR',
    duration(NUMBERS.ttlMs.min, NUMBERS.ttlMs.max),
    'expires (exit 3) unless it is started within this long: 15m, 8h, 2d',
  ),
  deadline: valued('--deadline', 'WHEN', moment, 'over by then, running or not: 15m, 8h, 03:00, 2026-12-01T03:00'),
  env: repeated('--env', 'NAME[=VALUE]', variable, 'give the agent this variable too'),
  refresh: on('--refresh', 'first ask the vendors what is left'),
  batchName: valued('--batch-name', 'NAME', batchName, 'the batch it belongs to'),
  label: repeated('--label', 'NAME=TEXT', label, 'a note kept on its record'),
  ...OUTPUT_FLAGS,
} as const satisfies Flags;

export const BATCH_FLAGS = {
  ...TASK_FLAGS,
  batch: valued(
    '--batch',
    'FILE',
    line('the path of a file or a folder'),
    'many tasks, all taken or none: JSON lines, or a folder of dispatch files (- is stdin)',
  ),
} as const satisfies Flags;
