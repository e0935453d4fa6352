import { attemptId, type DispatchRecord } from '#contract';
import { appendReceipt } from '#receipts';
import { markDelivered, readPlan, writeReceipt } from '#runner';
import { assertRun } from './assert-run.js';
import type { Conclusion } from './conclusion-file.js';
import { payWhatIsOwed } from './owed-after.js';
import type { Resources } from './resources.js';

/**
 * The four steps of a delivery, each repeatable; after any crash the scan goes on from the first that is missing.
 *   1 receipt.json by link(2): the first writer's classification stands
 *   2 the attempt's line: one O_APPEND write, fsync
 *   3 one script: (running, attempt n) → next, the reservation settles, the account closes or opens
 *   4 the next attempt's ticket or the dispatch's line; then `delivered`
 */
export async function deliver(
  resources: Resources,
  record: DispatchRecord | null,
  folder: string,
  account: string,
  conclusion: Conclusion,
): Promise<void> {
  const { transitions, folders, node, log } = resources;
  const { receipt } = await writeReceipt(folder, conclusion.receipt);
  await appendReceipt(folders.receipts, receipt);

  const { dispatch, attempt } = receipt;
  if (record) {
    await putTexts(resources, dispatch, attempt, conclusion);
    const step = {
      record,
      attempt,
      account,
      node,
      receipt: JSON.stringify(receipt),
      next: conclusion.next,
      cancelled: conclusion.cancelled,
      close: conclusion.close,
      success: conclusion.success,
      drift: conclusion.drift ?? false,
    };
    let answer = await transitions.deliver(step);
    // Fenced by a record that is behind: Redis fell back while this was on its way, and another node would start it
    // again.
    if (answer.answer === 'fenced' && (await assertRun(resources, { dispatch, attempt }, await readPlan(folder)))) {
      await putTexts(resources, dispatch, attempt, conclusion);
      answer = await transitions.deliver(step);
    }
    const state = await payWhatIsOwed(resources, dispatch);
    log.info(
      { dispatch, attempt, outcome: receipt.outcome, class: receipt.class, answer: answer.answer, state },
      'delivered',
    );
  } else {
    log.warn({ dispatch, attempt, outcome: receipt.outcome }, 'an orphan was delivered: Redis has no record of it');
  }
  await markDelivered(folders.runs, attemptId(dispatch, attempt));
}

/** A late result of an attempt that was taken for lost is evidence: it must not take the place of the answer. */
async function putTexts(
  { records }: Resources,
  dispatch: string,
  attempt: number,
  { result, structured, partial }: Conclusion,
): Promise<void> {
  if (result === null && partial === null) return;
  const now = await records.read(dispatch);
  if (now?.state !== 'running' || now.attempt !== attempt) return;
  if (result !== null) await records.putBlob(dispatch, 'result', structured ?? result);
  if (partial !== null) await records.putBlob(dispatch, 'partial', partial);
}
