import { join } from 'node:path';
import * as z from 'zod/mini';
import { readIfThere, writeFirst, writeWhole } from './durable-file.js';
import { ownIdentity, type ProcessIdentity } from './process-identity.js';

/**
 * `claim` is the only licence to start a CLI. A supervisor links one that holds its own identity; a worker that wants to
 * be sure that nothing starts any more links a void one. The first link wins; a supervisor that loses exits with 97.
 */
export type Claim = { by: ProcessIdentity | null; void: boolean };

/** A supervisor's exit code when another claim stood there. */
export const CLAIM_LOST = 97;

const schema = z.object({ pid: z.number(), ticks: z.number(), bootId: z.string(), void: z.optional(z.literal(true)) });

/** Null: unclaimed. A claim whose content was lost in a power cut is still a claim, by a process that is dead. */
export async function readClaim(folder: string): Promise<Claim | null> {
  const text = await readIfThere(join(folder, 'claim'));
  if (text === null) return null;
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    if (parsed.success) {
      const { pid, ticks, bootId } = parsed.data;
      return { by: { pid, ticks, bootId }, void: parsed.data.void === true };
    }
  } catch {
    // Falls through: unreadable.
  }
  return { by: null, void: false };
}

/** @returns `voided`: nothing was started from this folder and nothing will be. Else `claim` is a supervisor's. */
export async function voidClaim(folder: string): Promise<{ voided: boolean; claim: Claim }> {
  const own = ownIdentity();
  if (await writeFirst(join(folder, 'claim'), `${JSON.stringify({ ...own, void: true })}\n`))
    return { voided: true, claim: { by: own, void: true } };
  const claim = (await readClaim(folder)) ?? { by: null, void: false };
  return { voided: claim.void, claim };
}

/**
 * For a start that the system itself refused (no process could be made, the command line is too long): the attempt ends
 * as any other does, with an exit record, so that it has one line and one way to be delivered.
 */
export async function recordRefusedStart(folder: string, why: string): Promise<'recorded' | 'lost'> {
  if (!(await writeFirst(join(folder, 'claim'), `${JSON.stringify(ownIdentity())}\n`))) return 'lost';
  await writeWhole(join(folder, 'exit.json'), `${JSON.stringify({ code: 127, timedOut: false, spawnError: why })}\n`);
  return 'recorded';
}
