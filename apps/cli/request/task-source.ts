import { resolve } from 'node:path';
import { CmoError, errorBody } from '#contract';
import type { Context } from '../command.js';
import { wrongValues, type Wrong } from '../flags/parse.js';
import { readDispatchFile } from './dispatch-file.js';
import { valuesOf } from './header-values.js';
import { readFile, readPrompt, readStdin, textOf } from './prompt.js';
import { byFlags, overridden, type TaskValues, type Told } from './told.js';

/** One task as its sender said it, from whatever place. The text is asked for last: stdin may take its time. */
export type TaskSource = { told: Told; prompt(): Promise<string> };

/** From the flags, or from the dispatch file that they name, over which they win. */
export async function taskFrom(command: string, flags: TaskValues, context: Context): Promise<TaskSource> {
  const { prompt, promptFile, dispatch } = flags;
  if (dispatch === undefined) {
    const source = {
      ...(prompt !== undefined && { prompt }),
      ...(promptFile !== undefined && { promptFile: promptFile === '-' ? '-' : resolve(context.cwd, promptFile) }),
    };
    return { told: byFlags(flags), prompt: () => readPrompt(source, context) };
  }
  if (prompt !== undefined || promptFile !== undefined) {
    throw new CmoError(
      errorBody(
        'CMO_E_UNSATISFIABLE',
        `--dispatch and ${prompt === undefined ? '--prompt-file' : '--prompt'} together`,
        { fix: 'the task stands in the dispatch file: say one of them' },
      ),
    );
  }
  const bytes = dispatch === '-' ? await readStdin(context) : readFile(resolve(context.cwd, dispatch), '--dispatch');
  const read = taskOfFile(
    textOf(bytes, dispatch === '-' ? 'stdin' : dispatch),
    dispatch === '-' ? 'stdin' : dispatch,
    context,
  );
  if (!read.ok) throw new CmoError(wrongValues(command, read.wrong));
  return { told: overridden(read.source.told, flags), prompt: read.source.prompt };
}

/** A dispatch file's text as a task. `name` is put in front of each problem. */
export function taskOfFile(
  text: string,
  name: string,
  { output, paintNotes }: Context,
): { ok: true; source: TaskSource } | { ok: false; wrong: Wrong[] } {
  const file = readDispatchFile(text);
  if (!file.ok)
    return {
      ok: false,
      wrong: file.problems.map(({ line, seen, allowed }) => ({
        flag: `${name}:${line}`,
        seen: JSON.stringify(seen.slice(0, 80)),
        allowed,
        nearest: null,
      })),
    };
  if (file.lateHeader !== null)
    output.note(
      paintNotes.yellow(
        `cmo: ${name}:${file.lateHeader} reads DISPATCH, but something stands before it: the whole file is the task, with no parameters`,
      ),
    );
  const { told, wrong } = valuesOf(
    file.header.map(({ key, value, line }) => ({ key, value, at: `${name}:${line} ${key}` })),
  );
  if (wrong.length > 0) return { ok: false, wrong };
  return { ok: true, source: { told, prompt: () => Promise.resolve(needed(file.task, name)) } };
}

function needed(task: string, name: string): string {
  if (task.trim() === '')
    throw new CmoError(
      errorBody('CMO_E_EMPTY_TASK', `the task is empty: nothing stands in ${name} after its header`, {
        fix: 'write the task below the line TASK',
      }),
    );
  return task;
}
