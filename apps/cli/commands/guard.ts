import type { LimitsData } from '#contract';
import { laneState, percentOf } from '#policy/bands';
import { factsOfLimits } from '#policy/limits-facts';
import { limitsAsked, limitsKnown } from '../client/limits.js';
import { command } from '../command.js';
import { OUTPUT_FLAGS, valued } from '../flags/flag.js';
import { oneOf } from '../flags/one-of.js';
import { line, whole } from '../flags/readers.js';
import { printData } from '../output/json.js';
import { laneWord } from '../output/lane-word.js';
import { momentText } from '../output/time-text.js';

export const guard = command({
  name: 'guard',
  summary: 'exit 0 while there is room, 3 when there is none, for scripts',
  words: { shown: '', min: 0, max: 0 },
  flags: {
    lane: valued('--lane', 'LANE', line('the id of a lane'), 'only this lane (default: the best one)'),
    below: valued(
      '--below',
      'PERCENT',
      whole(1, 100),
      'room is effective use below this (default: where critical begins)',
    ),
    ...OUTPUT_FLAGS,
  },
  output: 'human',
  schema: 'cmo.guard/1',
  examples: ['cmo guard && ./nightly.sh', 'cmo guard --lane claude --below 50'],
  notes: [
    'When the use of a lane is not known, its vendor is asked first; if it stays unknown, that counts as no room.',
  ],
  async run({ values }, context) {
    const asked = values.lane ?? null;
    let data = await limitsKnown(context);
    if (data === null || judge(data, asked, values.below, context.now()).percent === null)
      data = await limitsAsked(context);
    const found = judge(data, asked, values.below, context.now());
    if (context.json) printData(context, 'cmo.guard/1', found);
    else context.output.note([found.why, ...wayOut(found, context.now())].join('; '));
    return found.safe ? 0 : 3;
  },
});

type Judged = {
  safe: boolean;
  lane: string | null;
  percent: number | null;
  below: number;
  why: string;
  /** ISO: when the first of the shut lanes opens; null: it is open, or nothing says when. */
  opensAt: string | null;
  paused: string[];
};

function wayOut({ opensAt, paused }: Judged, now: number): string[] {
  return [
    ...(opensAt === null ? [] : [`the first opens at ${momentText(opensAt, now)}`]),
    ...paused.map((lane) => `\`cmo resume ${lane}\` (or --all) takes the pause back`),
  ];
}

/** The emptiest lane that takes work; `percent` null: none of them is known. */
function judge(data: LimitsData, asked: string | null, limit: number | undefined, now: number): Judged {
  const below = limit ?? data.pressure.critical;
  const facts = factsOfLimits(data, now);
  if (asked !== null) oneOf(Object.keys(facts), asked, { command: 'guard', place: '--lane' });
  const lanes = Object.entries(facts)
    .filter(([id]) => asked === null || id === asked)
    .map(([id, one]) => ({ id, one, ...laneState(one, '', data.pressure), percent: percentOf(one, '') }));
  const open = lanes.filter(({ state }) => state !== 'exhausted' && state !== 'missing');
  const known = open
    .flatMap(({ id, percent }) => (percent === null ? [] : [{ id, percent }]))
    .sort((a, b) => a.percent - b.percent);
  const [best] = known;
  if (best) {
    const percent = Number(best.percent.toFixed(1));
    return {
      safe: percent < below,
      lane: best.id,
      percent,
      below,
      why: `${best.id} is at ${percent}%, ${percent < below ? 'below' : 'not below'} ${below}%`,
      opensAt: null,
      paused: [],
    };
  }
  const why =
    open.length > 0
      ? `what is left on ${open.map(({ id }) => id).join(', ')} is not known`
      : `no lane takes work: ${lanes.map(({ id, one, state }) => `${id} ${laneWord(state, one, data.pressure.exhausted)}`).join(', ')}`;
  const opens = open.length > 0 ? [] : lanes.flatMap(({ resetsAt }) => resetsAt ?? []);
  const paused = lanes
    .filter(({ one, state }) => state === 'exhausted' && one.blockedBy === 'paused')
    .map(({ id }) => id);
  // Nothing to ask for when every lane is shut.
  return {
    safe: false,
    lane: null,
    percent: open.length > 0 ? null : 100,
    below,
    why,
    opensAt: opens.sort((a, b) => Date.parse(a) - Date.parse(b))[0] ?? null,
    paused,
  };
}
