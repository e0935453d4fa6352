import type { ReceiptLine } from '#contract';
import { openGate } from '#gate';
import { auditGate, auditIndexes } from '../support/audit.js';
import { processesWith } from '../support/processes.js';
import { waitUntil } from '../support/wait-until.js';
import { firstOfEach, type FlowBox } from './flow-box.js';

/**
 * What must hold of a box at rest, whatever was killed before: worked out from the ledger of the stand-ins, the run
 * folders, the receipts, Redis and /proc. An empty answer: nothing was lost, nothing ran twice. What the upkeep still
 * mends (a line that is owed, a folder to be set aside) gets time for it.
 * @param ids all dispatches that were acknowledged; each has ended
 */
export async function problemsAtRest(
  box: FlowBox,
  ids: readonly string[],
  options: RestOptions = {},
): Promise<string[]> {
  let problems: string[] = [];
  await waitUntil(async () => (problems = await look(box, ids, options)).length === 0, {
    timeoutMs: options.forMs ?? 8_000,
    everyMs: 200,
  }).catch(() => undefined);
  return problems;
}

export type RestOptions = {
  /**
   * A Redis that forgot an end is told it again: the repeated dispatch
   * line has another time, and a decision that was made again.
   */
  endsToldAgain?: boolean;
  /** How long upkeep gets, ms. */
  forMs?: number;
};

async function look(box: FlowBox, ids: readonly string[], options: RestOptions): Promise<string[]> {
  return [...(await inRedis(box)), ...inFiles(box, ids, options), ...outlived(ids)];
}

async function inRedis(box: FlowBox): Promise<string[]> {
  const redis = box.redis();
  try {
    const problems = await auditIndexes(redis);
    const gate = openGate(redis, box.settings());
    for (const account of gate.accounts()) {
      const audit = await auditGate(redis, account, { records: true });
      const { reservations } = await gate.snapshot(account);
      const held = reservations.filter(({ state }) => state !== 'settling' && state !== 'estimated');
      problems.push(
        ...audit.problems.map((text) => `${account}: ${text}`),
        ...held.map(({ id, state }) => `${id} still holds a reservation: ${state}`),
      );
    }
    return problems;
  } finally {
    redis.disconnect();
  }
}

function inFiles(box: FlowBox, ids: readonly string[], options: RestOptions): string[] {
  const starts = box.starts();
  const folders = box.runFolders();
  const claimed = folders.filter((run) => run.claimed).map(({ id }) => id);
  const lines = firstOfEach(box.receipts());
  const attempts = lines.filter(({ kind }) => kind === 'attempt').map(({ id }) => id);
  const named = lines.flatMap((line) => (line.kind === 'dispatch' ? line.attemptIds : []));
  return [
    ...Object.entries(starts).flatMap(([attempt, count]) =>
      count > 1 ? [`${attempt} was started ${count} times`] : [],
    ),
    ...folders.filter(({ where }) => where === 'runs').map(({ id }) => `the folder of ${id} was not delivered`),
    ...Object.keys(starts)
      .filter((attempt) => !claimed.includes(attempt))
      .map((attempt) => `${attempt} was started without a claimed folder`),
    ...contradictions(box, options),
    ...differences('claimed folders', claimed, 'attempt lines', attempts),
    ...differences(
      'dispatches',
      ids,
      'dispatch lines',
      lines.filter(({ kind }) => kind === 'dispatch').map(({ id }) => id),
    ),
    ...differences('attempts that dispatch lines name', named, 'attempt lines', attempts),
  ];
}

/** Repeated lines must say the same. */
function contradictions(box: FlowBox, { endsToldAgain = false }: RestOptions): string[] {
  const said = new Map<string, string>();
  return box.receipts().flatMap((line) => {
    const key = `${line.kind} ${line.id}`;
    const text = JSON.stringify(endsToldAgain && line.kind === 'dispatch' ? whatItCameTo(line) : line);
    const before = said.get(key);
    said.set(key, before ?? text);
    return before === undefined || before === text
      ? []
      : [`two lines of ${key} contradict each other: ${before} / ${text}`];
  });
}

function whatItCameTo({
  id,
  state,
  provider,
  attemptIds,
  answeredBy,
  failures,
  needsLook,
  error,
}: Extract<ReceiptLine, { kind: 'dispatch' }>): object {
  return { id, state, provider, attemptIds, answeredBy, failures, needsLook, error };
}

/** All attempts have ended: whatever still carries a mark outlived its own. */
function outlived(ids: readonly string[]): string[] {
  return processesWith()
    .filter(({ mark }) => ids.includes(mark.split('.')[0] ?? ''))
    .map(({ pid, mark, command }) => `process ${pid} outlived ${mark}: ${command}`);
}

function differences(left: string, one: readonly string[], right: string, other: readonly string[]): string[] {
  const lacks = (id: string, has: string, not: string): string => `${id} is among the ${has}, not among the ${not}`;
  return [
    ...one.filter((id) => !other.includes(id)).map((id) => lacks(id, left, right)),
    ...other.filter((id) => !one.includes(id)).map((id) => lacks(id, right, left)),
  ];
}
