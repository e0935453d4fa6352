import { CmoError, type ControlData } from '#contract';
import type { Context } from '../command.js';
import { controlLines } from '../output/control-text.js';
import { printData } from '../output/json.js';
import type { DaemonClient } from './daemon.js';

/** Tells the daemon, and answers what then stands. */
export async function say(
  client: DaemonClient,
  path: 'pause' | 'resume' | 'drain' | 'slots' | 'control',
  body?: object,
): Promise<ControlData> {
  const outcome = await client.call<ControlData>({
    method: body === undefined ? 'GET' : 'POST',
    path: `/v1/${path}`,
    daemon: 'start',
    ...(body !== undefined && { body }),
  });
  if (!outcome.ok) throw new CmoError(outcome.error);
  return outcome.data;
}

/** After a pause: there is one at least. */
export function printControl(context: Context, data: ControlData): void {
  if (context.json) return printData(context, 'cmo.control/1', data);
  for (const line of controlLines(data, context.paint, context.now())) context.output.line(line);
}
