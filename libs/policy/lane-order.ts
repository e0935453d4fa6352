import type { Band, Candidate, LaneFacts, LanesFacts, LaneState, PolicyConfig, Task, Tier } from '#contract';
import { factsOf, laneState } from './bands.js';
import { offerOf, type Offer, type PolicyLane } from './models.js';

/** A lane as one task sees it. `out` says why it can't take the task; null = usable. */
export type Seat = {
  lane: PolicyLane;
  facts: LaneFacts;
  state: LaneState;
  offer: Offer | null;
  out: 'missing' | 'exhausted' | null;
  score: number;
  why: string[];
};

export type UsableSeat = Seat & { out: null; offer: Offer };

export function isUsable(seat: Seat): seat is UsableSeat {
  return seat.out === null && seat.offer !== null;
}

const OUT_POINTS = -10_000;
const BAND_POINTS: Record<Band, number> = {
  ok: 0,
  tight: -150,
  critical: -400,
  unknown: -20,
  exhausted: OUT_POINTS,
  missing: OUT_POINTS,
};

/**
 * Every lane, best first. Score in tenths of what decision.md names, so that whole percents give exact sums and a tie
 * is a tie: band, + weightPoints for the preferred lane, + room left. A lane whose meter is unknown borrows the lowest
 * known percent (0 where none is), and the preferred one is spared the malus: an unreadable meter alone never costs it
 * a dispatch. Raising one lane's percent never improves its rank: every borrowed percent rises at most as much.
 */
export function seatLanes(task: Task, tier: Tier, facts: LanesFacts, config: PolicyConfig): Seat[] {
  const seen = config.lanes.map((lane) => {
    const own = factsOf(facts, lane.id);
    const offer = offerOf(lane, tier, task);
    return { lane, facts: own, offer, state: laneState(own, offer?.model ?? lane.models[tier].model, config.pressure) };
  });
  const known = seen.flatMap(({ state }) => (state.percent === null ? [] : [state.percent]));
  const borrowed = known.length > 0 ? Math.min(...known) : 0;
  const { first, weightPoints } = config.preference;

  const seats = seen.map(({ lane, facts: own, offer, state }): Seat => {
    const preferred = lane.id === first;
    const unfit = task.schemaRefusedBy?.includes(lane.id) ?? false;
    const left = task.lanesOut?.includes(lane.id) ?? false;
    const out = outOf({ lacking: state.state === 'missing' || offer === null || unfit, left, state });
    const why = [lineOf(lane.id, state, own)];
    if (left) why.push('this dispatch left it for a window that is still closed');
    if (unfit) why.push('its structured output refuses the schema');
    if (offer === null) why.push('none of its models answers this dispatch');
    if (preferred) why.push(`preferred: worth ${weightPoints} points of room`);

    let points = out === null ? bandPoints(state.state, preferred) : OUT_POINTS;
    if (preferred) points += weightPoints;
    points += 100 - (state.percent ?? borrowed);
    return { lane, facts: own, state, offer, out, score: Number((points / 10).toFixed(6)), why };
  });
  const place = (seat: Seat): number => (seat.lane.id === first ? 0 : 1);
  return seats.sort((a, b) => b.score - a.score || place(a) - place(b));
}

/**
 * A lane that lacks something (its CLI, a model that answers, a schema it takes) is out before one whose window is full:
 * no reset brings what it lacks, so no work may wait for it.
 */
function outOf({ lacking, left, state }: { lacking: boolean; left: boolean; state: LaneState }): Seat['out'] {
  if (lacking) return 'missing';
  return left || state.state === 'exhausted' ? 'exhausted' : null;
}

/** An unreadable meter alone never costs the preferred lane a dispatch. */
function bandPoints(band: Band, preferred: boolean): number {
  return band === 'unknown' && preferred ? 0 : BAND_POINTS[band];
}

function lineOf(lane: string, { state, percent }: LaneState, { blockedBy, hardBlocked }: LaneFacts): string {
  const detail = [
    ...(percent === null ? [] : [`${percent}% used`]),
    ...(state === 'exhausted' && hardBlocked ? [blockedBy === undefined ? 'closed' : `closed: ${blockedBy}`] : []),
    ...(state === 'unknown' ? ['no reading'] : []),
    ...(state === 'missing' ? ['no CLI'] : []),
  ];
  return `${lane} ${state} (${detail.join(', ')})`;
}

export function candidateOf({ lane, state, score, why }: Seat): Candidate {
  return { lane: lane.id, vendor: lane.vendor, ...state, score, why };
}
