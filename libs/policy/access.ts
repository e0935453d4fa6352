import type { Access, Role } from '#contract';
import { contradiction, type Problem } from './problem.js';

const WRITERS: readonly Role[] = ['implement', 'mechanical'];
const GRADERS: readonly Role[] = ['judge', 'review'];

export type AccessFlags = { role?: Role; write?: boolean; readOnly?: boolean };

/** What the agent may do to its folder: by role, raised by `--write`, lowered by `--read-only`. */
export function accessOf({ role = 'implement', write, readOnly }: AccessFlags): Access {
  if (readOnly) return 'read';
  return write || WRITERS.includes(role) ? 'write' : 'read';
}

/** A grader that may change what it grades is no grader, and both flags at once say nothing. */
export function checkAccess({ role = 'implement', write, readOnly }: AccessFlags): Problem[] {
  if (write && readOnly) return [contradiction('write', '--write and --read-only together', 'one of the two')];
  if (write && GRADERS.includes(role))
    return [contradiction('write', `--write with role ${role}`, `no --write: ${role} reads only`)];
  return [];
}
