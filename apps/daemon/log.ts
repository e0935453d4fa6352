import { pino, type Logger } from 'pino';
import { boundedFile } from './bounded-file.js';
import { sayOnce } from './say-once.js';

/**
 * Past this size the log is rotated: two files at most. A night of 250 agents writes about one megabyte.
 */
const ROTATE_BYTES = 16 * 1024 * 1024;

/** Where a prompt, an answer, an environment or a login could stand if somebody logged the object that holds it. */
const SECRET = [
  'prompt',
  'env',
  'schema',
  'result',
  'partial',
  'token',
  'password',
  'authorization',
  'cookie',
  'body',
  'args',
  'url',
];

/** pino's numbers. A fatal line is a process's last: it is never held back. */
const WARN = 40;
const FATAL = 60;

/**
 * The daemon's log: JSON lines, mode 0600. Written synchronously: a log that loses its last lines with the process says
 * least when it matters most. A warning or an error that repeats is said once and then counted.
 */
export function openLog(path: string, { bytes = ROTATE_BYTES, tellAgainMs }: LogBounds = {}): Logger {
  const once = sayOnce(tellAgainMs);
  process.on('exit', () => once.flush());
  return pino(
    {
      hooks: {
        logMethod(line, method, level) {
          const [fields, words] = line as unknown[];
          if (level < WARN || level >= FATAL || !isFields(fields) || typeof words !== 'string') {
            method.apply(this, line);
            return;
          }
          once.hear(level, words, fields, (told) => method.apply(this, [told, words] as unknown as typeof line));
        },
      },
      base: { pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
      serializers: { err: plainError },
    },
    boundedFile(path, bytes),
  );
}

export type LogBounds = { bytes?: number; tellAgainMs?: number };

function isFields(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Of an error only what names it. ioredis hangs the command with its arguments on its errors (a prompt, an
 * environment), and Redis quotes the beginning of what it did not understand.
 */
export function plainError(error: unknown): {
  name: string;
  message: string;
  code?: string;
  stack?: string[];
  cause?: object;
} {
  if (!(error instanceof Error))
    return { name: 'no error', message: typeof error === 'string' ? error.slice(0, 500) : typeof error };
  const { code } = error as NodeJS.ErrnoException;
  const stack = (error.stack ?? '')
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .slice(0, 12);
  return {
    name: error.name,
    message: error.message.slice(0, 500),
    ...(code !== undefined && { code }),
    stack,
    ...(error.cause instanceof Error && { cause: plainError(error.cause) }),
  };
}
