import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/**
 * Looks a command up as a shell would, but in the PATH that is given and never in the current folder: empty and
 * relative entries are passed over. @returns its absolute path, null when there is no executable file of that name
 */
export function findExecutable(command: string, path: string): string | null {
  if (isAbsolute(command)) return isExecutable(command) ? command : null;
  if (command === '' || command.includes('/')) return null;
  return (
    path
      .split(':')
      .filter(isAbsolute)
      .map((folder) => join(folder, command))
      .find(isExecutable) ?? null
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
