import { join } from 'node:path';
import type { AttemptReceipt, State } from '#contract';
import type { Closing, Next } from '#queue';
import { readIfThere, writeFirst } from '#runner/durable-file';

/**
 * What a delivery will do, decided once and kept in the run folder before its first effect: a delivery that is repeated
 * after a crash does the same again, whatever the meters say by then.
 */
export type Conclusion = {
  receipt: AttemptReceipt;
  next: Next;
  /** In place of `next` when a cancel came and `next` would go on. */
  cancelled: Next;
  close: Closing | null;
  success: boolean;
  /** Nothing that the CLI wrote was understood; absent in folders of older daemons. */
  drift?: boolean;
  result: string | null;
  /** JSON text of the validated value; null without a schema. */
  structured: string | null;
  partial: string | null;
};

const NAME = 'conclusion.json';

export async function readConclusion(folder: string): Promise<Conclusion | null> {
  const text = await readIfThere(join(folder, NAME));
  return text === null ? null : (JSON.parse(text) as Conclusion);
}

/** The first one stays. @returns the one that stands there now */
export async function keepConclusion(folder: string, conclusion: Conclusion): Promise<Conclusion> {
  const first = await writeFirst(join(folder, NAME), `${JSON.stringify(conclusion)}\n`);
  return first ? conclusion : ((await readConclusion(folder)) ?? conclusion);
}

/** What the delivery script answered. */
export type Delivered = { answer: 'delivered'; state: State } | { answer: 'fenced' };
