import { policyConfig, type Config, type Decision, type LanesFacts, type Task } from '#contract';
import { decide } from '#policy/decide';

export type TableRow = { case: string; task: Task; decision: Decision };

/** Every lane half empty, as the windows of a good day. */
const ROOM = 20;

/** What the person's own lanes and models make of the work that orchestrators send. */
export function decisionTable(config: Config): TableRow[] {
  const policy = policyConfig(config);
  const facts: LanesFacts = Object.fromEntries(
    policy.lanes.map(({ id }) => [id, { available: true, worstPercent: ROOM, installed: true }]),
  );
  const first = policy.preference.first;
  const closed: LanesFacts = {
    ...facts,
    [first]: { available: true, worstPercent: 100, hardBlocked: true, blockedBy: 'usage_limit', installed: true },
  };
  const rows: [string, Task, LanesFacts][] = [
    ['rename a symbol', { role: 'mechanical', complexity: 1, length: 's' }, facts],
    ['look something up', { role: 'research', complexity: 2, length: 's' }, facts],
    ['implement a feature', { role: 'implement', complexity: 3, length: 'm', needsRepoWrite: true }, facts],
    ['a hard feature', { role: 'implement', complexity: 5, length: 'l', needsRepoWrite: true }, facts],
    [`review what ${first} made`, { role: 'review', complexity: 3, length: 's', independentOf: first }, facts],
    [
      `judge what ${first} made`,
      { role: 'judge', complexity: 4, length: 's', independentOf: first, needsSchema: true },
      facts,
    ],
    ['design a system', { role: 'architecture', complexity: 5, length: 'l' }, facts],
    [`${first} closed`, { role: 'implement', complexity: 3, length: 'm' }, closed],
  ];
  return rows.map(([name, task, lanes]) => ({ case: name, task, decision: decide(task, lanes, policy) }));
}
