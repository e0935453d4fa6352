import { errorBody, type Decision, type ErrorBody } from '#contract';

/**
 * The error of a dispatch that no lane takes now and that may wait no longer: for each permitted lane what closed it,
 * and what opens it. Waiting for a window opens neither a paused lane nor one whose login has lapsed, and where every
 * lane wants a login or a CLI it is not a window that is missing.
 */
export function deferral(decision: Decision): ErrorBody {
  const lanes = permittedLanes(decision);
  const standings = lanes.map((lane) => standingOf(decision, lane));
  const causes = new Set(standings.map(({ cause }) => cause));
  const details = standings.map(({ words }) => words);
  const retryAfter = decision.ok ? null : decision.resumeAfter;
  if ([...causes].every((cause) => cause === 'missing' || cause === 'auth'))
    return errorBody('CMO_E_NO_LANE', undefined, { details, retryAfter });
  const fixes = [
    ...(causes.has('paused')
      ? [`\`cmo resume ${standings.length === 1 ? (lanes[0] ?? '--all') : '--all'}\` takes the pause back`]
      : []),
    ...(causes.has('auth') || causes.has('missing') || causes.has('environment')
      ? ['`cmo doctor` says what a closed lane needs']
      : []),
    ...(causes.has('window') ? ['wait for the window with `--max-wait 8h`, or use `cmo submit`'] : []),
  ];
  // A listing has one line for it.
  const message = `no lane is usable now: ${standings.map(({ brief }) => brief).join(', ')}`;
  return errorBody('CMO_E_DEFERRED', message, { details, fix: fixes.join('; '), retryAfter });
}

/** The candidates are every lane: those that the task itself rules out open nothing for it. */
function permittedLanes({
  candidates,
  factors: { pin, independentOf, strictIndependence },
  laneStates,
}: Decision): string[] {
  if (pin !== null) return [pin];
  if (candidates.length === 0) return Object.keys(laneStates);
  const maker = candidates.find(({ lane }) => lane === independentOf)?.vendor ?? independentOf;
  return candidates.filter(({ vendor }) => !strictIndependence || vendor !== maker).map(({ lane }) => lane);
}

type Cause = 'missing' | 'auth' | 'environment' | 'paused' | 'window';

/** A lane's `cause`, with `words` for the details and a `brief` for the one line of a listing. */
function standingOf({ laneStates, facts }: Decision, lane: string): { cause: Cause; words: string; brief: string } {
  const known = Object.hasOwn(laneStates, lane) ? laneStates[lane] : undefined;
  const { state, resetsAt } = known ?? { state: 'unknown', resetsAt: null };
  const until = resetsAt === null ? '' : ` until ${resetsAt}`;
  if (state === 'missing') return { cause: 'missing', words: `${lane}: ${state}${until}`, brief: `${lane} ${state}` };
  const blockedBy = Object.hasOwn(facts, lane) ? facts[lane]?.blockedBy : undefined;
  // A person who reads `exhausted` looks for a full window; what a pause, a login or a refusal shut is called by that.
  const shut = blockedBy === undefined || blockedBy === 'limit' ? state : blockedBy;
  const standing = shut === state || shut === 'paused' ? shut : `closed (${shut})`;
  return {
    cause: blockedBy === 'auth' || blockedBy === 'environment' || blockedBy === 'paused' ? blockedBy : 'window',
    words: `${lane}: ${standing}${until}`,
    brief: `${lane} ${blockedBy ?? state}`,
  };
}
