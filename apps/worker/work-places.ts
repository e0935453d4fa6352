import { realpathSync } from 'node:fs';
import type { RunPlan } from '#runner';

/** What an attempt does in its folder. */
export type Place = { cwd: string; writes: boolean; exclusive: boolean };

/**
 * Which attempts of this node work in which folder. Two writers in one folder are warned of each other; one that asked
 * to be the only writer (`--exclusive`) waits, and no other writer starts while it runs.
 *
 * A dispatch that has to wait gives its slot back and has no ticket: it gets one when its folder is free. Should this
 * process die meanwhile, the sweeper gives it one, and it is looked at again.
 */
export interface WorkPlaces {
  /** Synchronous, so that no other ticket comes in between. Entering again changes nothing. */
  enter(attempt: string, place: Place): { ok: true } | { ok: false; holder: string };
  /** A run that was found at work is there, whatever else is. */
  found(attempt: string, place: Place): void;
  /** Other writers that were in its folder at the same time, so far. */
  beside(attempt: string): string[];
  leave(attempt: string): void;
  /** Waits until no other writer is in its way. */
  park(dispatch: string, cwd: string): void;
}

/** @param freed dispatches whose folder may be free now */
export function workPlaces(freed: (dispatches: string[]) => void): WorkPlaces {
  const inside = new Map<string, Place & { met: Set<string> }>();
  const parked = new Map<string, Set<string>>();

  function add(attempt: string, place: Place): void {
    const here = { ...place, met: new Set<string>() };
    for (const [other, there] of inside) {
      if (there.cwd !== place.cwd || !there.writes || !place.writes || ofOne(other, attempt)) continue;
      there.met.add(attempt);
      here.met.add(other);
    }
    inside.set(attempt, here);
  }

  return {
    enter(attempt, { cwd, ...how }) {
      const place = { ...how, cwd: realPath(cwd) };
      if (inside.has(attempt)) return { ok: true };
      const holder = [...inside].find(
        ([id, other]) => other.cwd === place.cwd && !ofOne(id, attempt) && inTheWay(place, other),
      );
      if (holder) return { ok: false, holder: holder[0] };
      add(attempt, place);
      return { ok: true };
    },
    found(attempt, { cwd, ...how }) {
      if (!inside.has(attempt)) add(attempt, { ...how, cwd: realPath(cwd) });
    },
    beside: (attempt) => [...(inside.get(attempt)?.met ?? [])],
    leave(attempt) {
      const place = inside.get(attempt);
      if (!inside.delete(attempt) || place === undefined) return;
      const waiting = parked.get(place.cwd);
      if (waiting === undefined || !(place.writes || place.exclusive)) return;
      parked.delete(place.cwd);
      freed([...waiting]);
    },
    park(dispatch, cwd) {
      const real = realPath(cwd);
      parked.set(real, (parked.get(real) ?? new Set()).add(dispatch));
    },
  };
}

/** A batch of 250 writers in one folder must not fill its receipts with each other's names. */
const BESIDE_SHOWN = 5;

/** As a run folder knows it. */
export function placeOf({ cwd, access, exclusive }: Pick<RunPlan, 'cwd' | 'access' | 'exclusive'>): Place {
  return { cwd, writes: access === 'write', exclusive: exclusive ?? false };
}

/** For the receipt: whose changes may be mixed up with its own. */
export function besideNotes(others: readonly string[]): string[] {
  if (others.length === 0) return [];
  const more = others.length - BESIDE_SHOWN;
  return [`beside:${others.slice(0, BESIDE_SHOWN).join(',')}${more > 0 ? `,+${more}` : ''}`];
}

/**
 * Attempts of one dispatch never run at once; the next may be opened while the last one's delivery is being finished.
 */
function ofOne(attempt: string, other: string): boolean {
  return attempt.replace(/\.\d+$/, '') === other.replace(/\.\d+$/, '');
}

function inTheWay(place: Place, other: Place): boolean {
  return (place.exclusive && (other.writes || other.exclusive)) || (place.writes && other.exclusive);
}

/** Two names of one folder are one folder. */
function realPath(cwd: string): string {
  try {
    return realpathSync(cwd);
  } catch {
    return cwd;
  }
}
