import type { DispatchRequest, SubmitData } from '#contract';
import type { Outcome } from './answer.js';
import type { DaemonClient } from './daemon.js';

/** Puts dispatches into the queue: all of them, or none. @param once the batch's `--once` key */
export function submitted(
  client: DaemonClient,
  dispatches: readonly DispatchRequest[],
  once?: string,
): Promise<Outcome<SubmitData>> {
  return client.call<SubmitData>({
    method: 'POST',
    path: '/v1/dispatches',
    body: { dispatches, ...(once !== undefined && { once }) },
    daemon: 'start',
  });
}
