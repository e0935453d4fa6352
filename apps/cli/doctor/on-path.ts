import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Every program of that name, in the order in which a shell would find them; links to the same file count once. */
export function onPath(command: string, path: string | undefined): string[] {
  const candidates =
    isAbsolute(command) || command.includes('/')
      ? [command]
      : (path ?? '')
          .split(delimiter)
          .filter(Boolean)
          .map((folder) => join(folder, command));
  const found = new Map<string, string>();
  for (const candidate of candidates) {
    try {
      if (!statSync(candidate).isFile()) continue;
      accessSync(candidate, constants.X_OK);
      const real = realpathSync(candidate);
      if (!found.has(real)) found.set(real, candidate);
    } catch {
      // Not there, or not ours to run.
    }
  }
  return [...found.values()];
}
