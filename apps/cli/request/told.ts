import type { Values } from '../flags/flag.js';
import type { TASK_FLAGS } from './task-flags.js';

export type TaskValues = Values<typeof TASK_FLAGS>;

/** What was said of one task, and where: a member that is not in `where` was said by its flag. */
export type Told = { values: TaskValues; where: ReadonlyMap<string, string> };

/** Members that answer one question: who says one of them has answered it. */
const TOGETHER: readonly (readonly (keyof TaskValues)[])[] = [
  ['write', 'readOnly', 'sandbox'],
  ['independentOf', 'reviewOf'],
];

export function byFlags(values: TaskValues): Told {
  return { values, where: new Map() };
}

/** The command line over a file: a flag wins, and with it goes what the file says on the same question. */
export function overridden(file: Told, flags: TaskValues): Told {
  const kept = Object.entries(file.values).filter(
    ([member]) =>
      !TOGETHER.some(
        (group) => (group as readonly string[]).includes(member) && group.some((other) => flags[other] !== undefined),
      ),
  );
  const where = new Map(file.where);
  for (const member of Object.keys(flags)) where.delete(member);
  return { values: { ...Object.fromEntries(kept), ...flags }, where };
}
