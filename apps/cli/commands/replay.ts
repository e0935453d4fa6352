import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CmoError, DISPATCH_ID, errorBody, policyConfig, type ShowData } from '#contract';
import { replay as decideAgain, type Replay } from '#policy/replay';
import { listReceipts } from '#receipts/read';
import { DaemonClient } from '../client/daemon.js';
import { command, type Context } from '../command.js';
import { OUTPUT_FLAGS } from '../flags/flag.js';
import { printData } from '../output/json.js';
import { configOrRefusal } from '../request/config.js';
import { readStdin } from '../request/prompt.js';

type Found = { id: string | null; decision: unknown };
type Replayed = { id: string | null } & Extract<Replay, { ok: true }>;

/** From the receipts of this box where they hold it, so that a bug report can be looked at without its daemon. */
export const replay = command({
  name: 'replay',
  summary: 'decide again from the facts of a receipt; starts nothing',
  words: { shown: 'ID | FILE | -', min: 1, max: 1 },
  flags: OUTPUT_FLAGS,
  output: 'human',
  schema: 'cmo.replay/1',
  examples: [
    'cmo replay d-01JE0000000000000000000000',
    'cmo plan --json --role judge | cmo replay -',
    'cmo replay receipts.jsonl',
  ],
  notes: [
    'A file holds receipts, plans, answers of `cmo show --json`, or decisions: one JSON value, or one a line.',
    'Decides with your present configuration. Exit 0 when the outcome is the same; else 1, with the difference.',
  ],
  async run({ words }, context) {
    const [what = ''] = words;
    const config = policyConfig(configOrRefusal(context));
    const found = DISPATCH_ID.test(what)
      ? [await recorded(what, context)]
      : inFile(what, what === '-' ? await readStdin(context) : bytesOf(what, context));
    const replayed = found.map(({ id, decision }, i): Replayed => {
      const again = decideAgain(decision, config);
      if (again.ok) return { id, ...again };
      throw new CmoError(
        errorBody('CMO_E_USAGE', `${id ?? `the decision in ${what}`} can't be made again`, {
          details: again.problems.map(
            ({ field, seen, allowed }) =>
              `${found.length > 1 ? `${i + 1}. ` : ''}${field}: saw ${seen}; allowed: ${allowed}`,
          ),
          fix: 'is a lane gone from the configuration?',
        }),
      );
    });
    if (context.json) printData(context, 'cmo.replay/1', { replays: replayed });
    else for (const line of replayed.flatMap((one) => textOf(one, context))) context.output.line(line);
    return replayed.every(({ same }) => same) ? 0 : 1;
  },
});

async function recorded(id: string, context: Context): Promise<Found> {
  const line = (await listReceipts(context.paths.receipts, { dispatch: id })).find(({ kind }) => kind === 'dispatch');
  if (line?.kind === 'dispatch' && line.decision) return { id, decision: line.decision };
  const shown = await new DaemonClient(context.paths).call<ShowData>({
    method: 'GET',
    path: `/v1/dispatches/${id}/show`,
    daemon: 'start',
  });
  if (!shown.ok) throw new CmoError(shown.error);
  return { id, decision: shown.data.record.decision };
}

function bytesOf(file: string, context: Context): Buffer {
  try {
    return readFileSync(resolve(context.cwd, file));
  } catch (error) {
    throw new CmoError(
      errorBody('CMO_E_USAGE', `no dispatch id, and no file that can be read: ${file.slice(0, 200)}`, {
        details: [(error as Error).message],
        fix: '`cmo ls` lists the ids',
      }),
    );
  }
}

function inFile(name: string, bytes: Buffer): Found[] {
  const values = valuesOf(bytes.toString('utf8').replace(/^\uFEFF/, ''));
  // Lines of attempts carry no decision: those of their dispatches do.
  const found =
    values?.filter((value) => (value as { kind?: unknown } | null)?.kind !== 'attempt').map(decisionIn) ?? [];
  if (found.length === 0)
    throw new CmoError(
      errorBody('CMO_E_USAGE', `${name} holds no decision`, {
        fix: 'give it a receipt, or what `cmo plan --json` or `cmo show --json` printed',
      }),
    );
  return found;
}

function valuesOf(text: string): unknown[] | null {
  try {
    const value = JSON.parse(text) as unknown;
    return Array.isArray(value) ? (value as unknown[]) : [value];
  } catch {
    try {
      return text
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => JSON.parse(line) as unknown);
    } catch {
      return null;
    }
  }
}

/** A receipt or a plan holds it, the answer of `show` its record does; or it is one. */
function decisionIn(value: unknown): Found {
  const member = (from: unknown, key: string): unknown =>
    typeof from === 'object' && from !== null ? new Map<string, unknown>(Object.entries(from)).get(key) : undefined;
  const record = member(member(value, 'data'), 'record') ?? value;
  const id = member(record, 'id');
  return { id: typeof id === 'string' ? id : null, decision: member(record, 'decision') ?? value };
}

function textOf({ id, same, decision, differences }: Replayed, { paint }: Context): string[] {
  const lane = decision.ok
    ? `${decision.lane} ${decision.model} (tier ${decision.tier})`
    : `deferred: ${decision.reasonCode}`;
  const head = `${id === null ? '' : `${id}  `}${same ? paint.green('the same') : paint.red('different')}: ${lane}`;
  return [
    head,
    ...differences.map(
      ({ member, then, now }) => `  ${member}: ${JSON.stringify(then)} then, ${JSON.stringify(now)} now`,
    ),
  ];
}
