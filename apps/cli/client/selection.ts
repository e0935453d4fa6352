import { CmoError, errorBody, STATES, type Matched, type Picked, type State } from '#contract';
import type { Context } from '../command.js';
import { on, repeated, valued } from '../flags/flag.js';
import { batchName, labelText, words } from '../flags/readers.js';
import { dispatchCount } from '../output/count-text.js';
import { hasRecords, idsOf } from './on-record.js';

/** Flags of commands that act on many. */
export const SELECT_FLAGS = {
  batch: valued('--batch', 'NAME', batchName, 'those of this batch'),
  label: repeated('--label', 'NAME=TEXT', labelText, 'those with this label'),
  state: valued('--state', 'A,B', words(STATES), 'those in these states'),
  yes: on('--yes', 'do not ask'),
};

type Said = { batch?: string; label?: string[]; state?: State[]; yes?: true };

/** The ids that were typed, or the selection that the flags make. */
export async function pickedOf(
  command: string,
  said: Said,
  typed: readonly string[],
  context: Context,
): Promise<Picked> {
  const { batch, label, state } = said;
  const selects = batch !== undefined || label !== undefined || state !== undefined;
  if (selects === typed.length > 0) {
    throw new CmoError(
      errorBody(
        'CMO_E_USAGE',
        selects ? 'ids, and a selection by flags: say one of them' : 'say which: ids, or --batch, --label, --state',
        { fix: `see \`cmo help ${command}\`` },
      ),
    );
  }
  if (!selects) return { ids: await idsOf(typed, context) };
  if (!(await hasRecords(context))) throw new CmoError(errorBody('CMO_E_NO_DISPATCH', 'nothing is on record here'));
  return {
    select: {
      ...(batch !== undefined && { batch }),
      ...(label !== undefined && { labels: label }),
      ...(state !== undefined && { states: state }),
    },
  };
}

/** `12 dispatches: 10 queued, 2 running`. */
export function matchedText({ matched, states }: Matched): string {
  const parts = STATES.flatMap((state) => (states[state] === undefined ? [] : [`${states[state] ?? 0} ${state}`]));
  const total = dispatchCount(matched);
  return parts.length === 0 ? total : `${total}: ${parts.join(', ')}`;
}

/**
 * Shows how many there are before anything is done to them, and asks. Without a terminal to ask on, `--yes` has to say
 * it.
 * @returns false: the person said no, or there is nothing
 */
export async function confirmed(verb: string, matched: Matched, { yes }: Said, { output }: Context): Promise<boolean> {
  output.note(`${verb} ${matchedText(matched)}`);
  if (matched.matched === 0) return false;
  if (yes) return true;
  if (!process.stdin.isTTY || !output.stderrIsTerminal)
    throw new CmoError(
      errorBody('CMO_E_USAGE', `${matchedText(matched)}: there is no terminal to ask on`, {
        fix: 'say --yes when they are the right ones',
      }),
    );
  output.raw(`${verb} them? [y/N] `);
  return /^y(es)?$/i.test((await firstLine()).trim());
}

function firstLine(): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const done = (): void => {
      process.stdin.off('data', take).off('end', done).pause();
      resolve(text.split('\n')[0] ?? '');
    };
    const take = (chunk: string): void => {
      text += chunk;
      if (text.includes('\n')) done();
    };
    process.stdin.setEncoding('utf8').on('data', take).on('end', done).resume();
  });
}
