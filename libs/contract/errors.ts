/**
 * Every error a person or a program can meet, declared once. The exit code says who must act:
 * 2 the caller, 3 the window, 4 a login, 5 the service. Codes are stable; messages may improve.
 */
export type RetryClass = 'never' | 'after-fix' | 'later' | 'now';

export type ErrorSpec = { message: string; exit: number; http: number; retry: RetryClass; fix: string };

export const ERRORS = {
  CMO_E_USAGE: {
    message: 'the command line was not understood',
    exit: 2,
    http: 400,
    retry: 'after-fix',
    fix: 'see `cmo help <command>`',
  },
  CMO_E_UNKNOWN_VALUE: {
    message: 'a value was not understood',
    exit: 2,
    http: 400,
    retry: 'after-fix',
    fix: 'use one of the allowed values',
  },
  CMO_E_EMPTY_TASK: {
    message: 'the task is empty',
    exit: 2,
    http: 400,
    retry: 'after-fix',
    fix: "pipe a prompt in, or name one: `echo 'the task' | cmo run`, `cmo run --prompt-file task.md`",
  },
  CMO_E_CWD: {
    message: 'the working directory does not exist',
    exit: 2,
    http: 400,
    retry: 'after-fix',
    fix: 'name an existing folder with --cwd',
  },
  CMO_E_SCHEMA_FILE: {
    message: 'the schema is not usable',
    exit: 2,
    http: 400,
    retry: 'after-fix',
    fix: 'name a file that holds one JSON Schema (2020-12)',
  },
  CMO_E_CONFIG: {
    message: 'the configuration has errors',
    exit: 2,
    http: 400,
    retry: 'after-fix',
    fix: 'fix the keys named above; `cmo config check` lists every problem',
  },
  CMO_E_NOT_PERMITTED: {
    message: 'not allowed here',
    exit: 2,
    http: 403,
    retry: 'after-fix',
    fix: 'allow it in the config file',
  },
  CMO_E_UNSATISFIABLE: {
    message: 'the request contradicts itself',
    exit: 2,
    http: 400,
    retry: 'after-fix',
    fix: 'drop one of the flags named above',
  },
  CMO_E_ONCE_CONFLICT: {
    message: 'the same --once key was used for another task',
    exit: 2,
    http: 409,
    retry: 'after-fix',
    fix: 'use a new key, or send the same task',
  },
  CMO_E_NO_DISPATCH: {
    message: 'no such dispatch',
    exit: 2,
    http: 404,
    retry: 'never',
    fix: '`cmo ls` lists what is on record',
  },
  CMO_E_DEFERRED: {
    message: 'no lane is usable now',
    exit: 3,
    http: 200,
    retry: 'later',
    fix: 'wait for the window with `--max-wait 8h`, or use `cmo submit`',
  },
  CMO_E_EXPIRED: {
    message: 'it was not started within its --ttl',
    exit: 3,
    http: 200,
    retry: 'later',
    fix: 'submit it again with a longer --ttl',
  },
  CMO_E_NO_LANE: {
    message: 'no permitted lane has a CLI or a login',
    exit: 4,
    http: 200,
    retry: 'after-fix',
    fix: '`cmo doctor` says which is missing and how to get it',
  },
  CMO_E_REDIS_MISSING: {
    message: 'redis-server is not installed',
    exit: 5,
    http: 503,
    retry: 'after-fix',
    fix: 'apt-get install redis-server, or brew install redis, or set CMO_REDIS_URL',
  },
  CMO_E_REDIS: {
    message: 'Redis cannot be reached or started',
    exit: 5,
    http: 503,
    retry: 'later',
    fix: '`cmo doctor` says what was tried',
  },
  CMO_E_DAEMON: {
    message: 'the daemon cannot be reached or started',
    exit: 5,
    http: 503,
    retry: 'later',
    fix: '`cmo doctor` says why; its log is logs/daemon.log in the state folder',
  },
  CMO_E_STATE_FOLDER: {
    message: 'the state folder is not usable',
    exit: 5,
    http: 503,
    retry: 'after-fix',
    fix: 'make it a folder of yours with mode 0700, or set CMO_STATE_DIR',
  },
  CMO_E_NODE_TAKEN: {
    message: 'another worker runs under this node id',
    exit: 5,
    http: 503,
    retry: 'after-fix',
    fix: 'stop it, or give this one its own CMO_NODE_ID',
  },
  CMO_E_DISK: {
    message: 'the disk is nearly full',
    exit: 5,
    http: 507,
    retry: 'later',
    fix: 'make room on it (`cmo gc --dry-run` says what cmo could remove), or lower disk.floorMb in the config file',
  },
  CMO_E_SERVICE: {
    message: 'the service cannot be set up',
    exit: 1,
    http: 500,
    retry: 'after-fix',
    fix: '`cmo service status` shows what is wrong',
  },
  CMO_E_FAILED: {
    message: 'the agent failed',
    exit: 1,
    http: 200,
    retry: 'now',
    fix: '`cmo show <id>` has the attempts and the vendor’s words',
  },
  CMO_E_TIMED_OUT: {
    message: 'the agent ran out of time',
    exit: 1,
    http: 200,
    retry: 'now',
    fix: 'give it more with --timeout',
  },
  CMO_E_CANCELLED: {
    message: 'it was cancelled',
    exit: 1,
    http: 200,
    retry: 'now',
    fix: 'submit it again if you want it',
  },
  CMO_E_NEEDS_LOOK: {
    message: 'the agent was cut off and may have written something',
    exit: 1,
    http: 200,
    retry: 'after-fix',
    fix: 'look at its folder and at what it said (`cmo logs <id>`) before you run it again',
  },
  CMO_E_WAIT_TIMEOUT: {
    message: 'the wait ran out; the dispatch goes on',
    exit: 7,
    http: 200,
    retry: 'now',
    fix: '`cmo wait <id>`',
  },
  CMO_E_INTERRUPTED: { message: 'interrupted', exit: 130, http: 200, retry: 'now', fix: '' },
  CMO_E_BATCH: {
    message: 'not every dispatch of the batch succeeded',
    exit: 6,
    http: 200,
    retry: 'now',
    fix: '`cmo ls --batch <name>` shows which, `cmo retry --batch <name>` runs what failed once more',
  },
  CMO_E_BUG: { message: 'a bug in cmo', exit: 1, http: 500, retry: 'never', fix: 'report it with the text above' },
} as const satisfies Record<string, ErrorSpec>;

export type ErrorCode = keyof typeof ERRORS;

/** The `error` of an envelope or an answer. `details` are lines for a person. */
export type ErrorBody = {
  code: ErrorCode;
  message: string;
  details?: string[];
  fix: string;
  retryAfter?: string | null;
};

export function errorBody(
  code: ErrorCode,
  message?: string,
  more: { details?: string[]; fix?: string; retryAfter?: string | null } = {},
): ErrorBody {
  const spec: ErrorSpec = ERRORS[code];
  const body: ErrorBody = { code, message: message ?? spec.message, fix: more.fix ?? spec.fix };
  if (more.details && more.details.length > 0) body.details = more.details;
  if (more.retryAfter !== undefined) body.retryAfter = more.retryAfter;
  return body;
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** An expected failure that has to cross a call stack (HTTP handler, CLI command) to its edge. */
export class CmoError extends Error {
  readonly body: ErrorBody;
  constructor(body: ErrorBody) {
    super(body.message);
    this.name = 'CmoError';
    this.body = body;
  }

  /** By name: the CLI's two bundles each hold a copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'CmoError' && 'body' in value;
  }
}
