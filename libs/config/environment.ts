/** Variables by name, as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The one place that reads the process' environment: everything else is handed what it needs, so that tests and daemons
 * can hand it another.
 */
export function processEnvironment(): Environment {
  return process.env;
}
