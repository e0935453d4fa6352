import { CmoError, errorBody, type LogsData } from '#contract';
import { DaemonClient } from '../client/daemon.js';
import { followLog } from '../client/follow-log.js';
import { idsOf } from '../client/on-record.js';
import { command, type Context } from '../command.js';
import { on, OUTPUT_FLAGS, valued, withLetter } from '../flags/flag.js';
import { whole } from '../flags/readers.js';
import { daemonLine } from '../output/daemon-line.js';
import { printData } from '../output/json.js';
import { logLine } from '../output/log-line.js';

/** How long one request may wait for news, ms; news within this time is answered as it comes. */
const WAIT_MS = 5_000;
/** Before the first attempt has started, and between two, ms. */
const PAUSE_MS = 500;

export const logs = command({
  name: 'logs',
  summary: 'what an agent does or did, event by event, or the daemon’s own log',
  words: { shown: 'ID', min: 0, max: 1 },
  flags: {
    follow: withLetter('-f', on('--follow', 'go on until the dispatch has ended')),
    raw: on('--raw', 'as the CLI itself wrote it'),
    attempt: valued(
      '--attempt',
      'N',
      whole(1, 1_000_000),
      'of this attempt (default: the last; with -f from the last one on)',
    ),
    daemon: on('--daemon', 'the log of the daemon'),
    ...OUTPUT_FLAGS,
  },
  output: 'human',
  schema: 'cmo.logs/1',
  examples: [
    'cmo logs -f d-01JE0000000000000000000000',
    'cmo logs --raw --attempt 1 d-01JE0000000000000000000000',
    'cmo logs --daemon -f',
  ],
  notes: [
    'An agent’s output is kept as long as its run folder, on the box where it ran.',
    'With -f and --json, each event is a line of JSON.',
  ],
  async run({ values, words }, context) {
    const { follow = false, raw = false, attempt, daemon = false } = values;
    const [word] = words;
    if (daemon) {
      if (word !== undefined || attempt !== undefined)
        throw new CmoError(
          errorBody('CMO_E_UNSATISFIABLE', 'the daemon’s log and an agent’s together', {
            fix: '`cmo logs --daemon`, or `cmo logs ID`',
          }),
        );
      await daemonLog(context, { follow, raw: raw || context.json });
      return 0;
    }
    if (word === undefined)
      throw new CmoError(
        errorBody('CMO_E_USAGE', 'logs of what?', {
          fix: '`cmo logs ID`, or `cmo logs --daemon`; `cmo ls` lists the dispatches',
        }),
      );
    const [id = ''] = await idsOf(words, context);
    await agentLog(new DaemonClient(context.paths), context, { id, attempt: attempt ?? null, follow, raw });
    return 0;
  },
});

type Wanted = { id: string; attempt: number | null; follow: boolean; raw: boolean };

async function agentLog(client: DaemonClient, context: Context, wanted: Wanted): Promise<void> {
  const { output } = context;
  const gathered: LogsData[] = [];
  let { attempt } = wanted;
  let from = 0;
  for (;;) {
    const part = await ask(client, wanted, attempt, from);
    if (part.attempt !== null && attempt !== part.attempt) attempt = part.attempt;
    if (context.json && !wanted.follow) gathered.push(part);
    else print(context, part, from, wanted);
    const more = part.next > from;
    from = part.next;
    if (output.closed()) return;
    if (more && !part.attemptEnded) continue;
    const later = attempt !== null && part.lastAttempt !== null && part.lastAttempt > attempt;
    if (wanted.follow && wanted.attempt === null && part.attemptEnded && later && attempt !== null) {
      attempt += 1;
      from = 0;
    } else if (
      !wanted.follow ||
      (part.attemptEnded && (wanted.attempt !== null || part.dispatchEnded)) ||
      (part.attempt === null && part.dispatchEnded)
    ) {
      break;
    } else if (part.attemptEnded || part.attempt === null) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
  if (context.json && !wanted.follow) printData(context, 'cmo.logs/1', merged(gathered));
  else if (attempt === null) output.note('nothing of it was started');
}

async function ask(
  client: DaemonClient,
  { id, follow, raw }: Wanted,
  attempt: number | null,
  from: number,
): Promise<LogsData> {
  const query = new URLSearchParams({
    from: String(from),
    ...(attempt !== null && { attempt: String(attempt) }),
    ...(raw && { raw: '1' }),
    ...(follow && { wait: String(WAIT_MS) }),
  });
  const outcome = await client.call<LogsData>({
    method: 'GET',
    path: `/v1/dispatches/${id}/logs?${query.toString()}`,
    daemon: follow ? 'restart' : 'start',
    timeoutMs: WAIT_MS + 30_000,
  });
  if (!outcome.ok) throw new CmoError(outcome.error);
  return outcome.data;
}

function print({ output, paint, json }: Context, part: LogsData, from: number, { raw, follow }: Wanted): void {
  if (raw) {
    if (part.raw !== undefined && part.raw !== '') output.line(part.raw.replace(/\n$/, ''));
    return;
  }
  if (json && follow) {
    for (const line of part.lines) output.line(JSON.stringify({ attempt: part.attempt, ...line }));
    return;
  }
  if (from === 0 && part.attempt !== null && part.next > 0)
    output.line(paint.bold(`attempt ${part.attempt} on ${part.lane ?? '?'} ${part.model ?? ''}`.trimEnd()));
  for (const line of part.lines) output.line(logLine(line, paint));
}

function merged(parts: readonly LogsData[]): LogsData | null {
  const last = parts.at(-1);
  if (!last) return null;
  const raw = parts.map((part) => part.raw ?? '').join('');
  return { ...last, lines: parts.flatMap(({ lines }) => lines), ...(last.raw !== undefined && { raw }) };
}

async function daemonLog(
  { paths, output, paint, now }: Context,
  { follow, raw }: { follow: boolean; raw: boolean },
): Promise<void> {
  const found = await followLog(paths.logs, 'daemon.log', {
    follow,
    goOn: () => !output.closed(),
    line: (text) => output.line(raw ? text : daemonLine(text, paint, now())),
  });
  if (!found)
    throw new CmoError(
      errorBody('CMO_E_USAGE', 'no daemon has written a log here yet', { fix: '`cmo up` starts one' }),
    );
}
