import { readdirSync, statSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import { BOUNDS, CmoError, errorBody } from '#contract';
import { readJson } from '#config/json-text';
import type { Context } from '../command.js';
import type { Wrong } from '../flags/parse.js';
import { FILE_KEYS, valuesOf, type Said } from './header-values.js';
import { readFile, readStdin, textOf } from './prompt.js';
import { taskOfFile, type TaskSource } from './task-source.js';
import { overridden, type TaskValues } from './told.js';

/**
 * One entry of a batch: its name in messages (`night.jsonl:17`, `tasks/04.md`), and its task or what is wrong with it.
 */
export type BatchEntry = { name: string; read: { ok: true; source: TaskSource } | { ok: false; wrong: Wrong[] } };

/**
 * What a dispatch file in a folder may be called. Another file there (a schema, a script) would run as if it were a
 * task.
 */
const FILE_ENDS = ['', '.md', '.txt', '.dispatch'];
const PROMPT_KEYS = ['prompt', 'prompt-file'];

/**
 * Every entry of a file of JSON lines, or of a folder of dispatch files in the order of their names. The flags win over
 * each.
 */
export async function readBatch(path: string, flags: TaskValues, context: Context): Promise<BatchEntry[]> {
  refuseTogether(flags);
  const entries = await entriesOf(path, context);
  if (entries.length === 0) throw refused(`${path} holds no task`, 'a line for each task, or a dispatch file for each');
  if (entries.length > BOUNDS.dispatches)
    throw refused(
      `${path} holds ${entries.length} tasks`,
      `at most ${BOUNDS.dispatches} in one batch: submit it in parts, with one --batch-name`,
    );
  return entries.map(({ name, read }) => ({
    name,
    read: read.ok ? { ok: true, source: { ...read.source, told: overridden(read.source.told, flags) } } : read,
  }));
}

/** The name of a batch that was not named: what it was read from, and letters that no other batch has. */
export function batchNameOf(path: string, firstId: string): string {
  const stem = basename(path, extname(path))
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 48);
  return `${stem === '' ? 'batch' : stem}-${firstId.slice(-8).toLowerCase()}`;
}

async function entriesOf(path: string, context: Context): Promise<BatchEntry[]> {
  if (path === '-') return linesOf(textOf(await readStdin(context), 'stdin'), 'stdin', context);
  const full = resolve(context.cwd, path);
  const stat = statSync(full, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return filesOf(full, path, context);
  return linesOf(textOf(readFile(full, '--batch'), path), basename(path), context);
}

function filesOf(folder: string, shown: string, context: Context): BatchEntry[] {
  const names = readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .sort();
  const odd = names.filter((name) => !FILE_ENDS.includes(extname(name)) || !statSync(join(folder, name)).isFile());
  if (odd.length > 0)
    throw refused(
      `${shown} holds ${odd.slice(0, 10).join(', ')}`,
      `dispatch files only: ${FILE_ENDS.slice(1).join(', ')} or without an ending`,
    );
  return names.map((name) => ({
    name,
    read: taskOfFile(textOf(readFile(join(folder, name), '--batch'), name), name, context),
  }));
}

function linesOf(text: string, name: string, context: Context): BatchEntry[] {
  return text.split(/\r\n|\r|\n/).flatMap((line, i) => {
    if (line.trim() === '') return [];
    const at = `${name}:${i + 1}`;
    return [{ name: at, read: taskOfLine(line, at, context) }];
  });
}

function taskOfLine(line: string, at: string, context: Context): BatchEntry['read'] {
  const json = readJson(line);
  if (!json.ok)
    return oneWrong(
      at,
      `no JSON (${json.why})`,
      'one JSON object a line, such as {"prompt": "…", "role": "research"}; dispatch files go into a folder',
    );
  const { value, twice } = json;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return oneWrong(at, JSON.stringify(value).slice(0, 80), 'a JSON object');
  const members = Object.entries(value).map(([key, member]): [string, unknown] => [kebab(key), member]);
  const { told, wrong } = valuesOf(
    members.filter(([key]) => !PROMPT_KEYS.includes(key)).flatMap(([key, member]) => saidOf(key, member, at)),
  );
  wrong.push(
    ...twice.map((path) => ({
      flag: `${at} ${path.join('.')}`,
      seen: 'a duplicate key',
      allowed: 'each key once',
      nearest: null,
    })),
  );
  const [said, another] = members.filter(([key]) => PROMPT_KEYS.includes(key));
  const [key, prompt] = said ?? [];
  if (key === undefined || another !== undefined)
    wrong.push({
      flag: `${at} prompt`,
      seen: another === undefined ? 'no task' : 'two tasks',
      allowed: 'one of prompt and prompt-file',
      nearest: null,
    });
  else if (typeof prompt !== 'string' || prompt.trim() === '')
    wrong.push({
      flag: `${at} ${key}`,
      seen: typeof prompt === 'string' ? 'nothing but blanks' : JSON.stringify(prompt).slice(0, 80),
      allowed: key === 'prompt' ? 'the task, a text' : 'the path of a file',
      nearest: null,
    });
  if (wrong.length > 0)
    return {
      ok: false,
      wrong: wrong.map((one) =>
        one.seen === 'an unknown key' ? { ...one, allowed: [...PROMPT_KEYS, ...FILE_KEYS].join(', ') } : one,
      ),
    };
  return {
    ok: true,
    source: {
      told,
      prompt: () => Promise.resolve(key === 'prompt' ? String(prompt) : fromFile(String(prompt), at, context)),
    },
  };
}

function oneWrong(flag: string, seen: string, allowed: string): BatchEntry['read'] {
  return { ok: false, wrong: [{ flag, seen, allowed, nearest: null }] };
}

function fromFile(path: string, at: string, context: Context): string {
  const text = textOf(readFile(resolve(context.cwd, path), `${at} prompt-file`), path);
  if (text.trim() === '')
    throw new CmoError(errorBody('CMO_E_EMPTY_TASK', `${at}: the task is empty: nothing stands in ${path}`));
  return text;
}

/** The API's names mean the same here: `contextTokens` is `context-tokens`. Labels may be one object. */
function saidOf(key: string, value: unknown, at: string): Said[] {
  if ((key === 'label' || key === 'labels') && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value).map(([name, text]) => ({
      key: 'label',
      value: `${name}=${String(text)}`,
      at: `${at} label`,
    }));
  }
  return [{ key, value, at: `${at} ${key.slice(0, 60)}` }];
}

function kebab(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function refused(what: string, allowed: string): CmoError {
  return new CmoError(
    errorBody('CMO_E_USAGE', `--batch: saw that ${what}; allowed: ${allowed}`, { fix: 'see `cmo help submit`' }),
  );
}

function refuseTogether({ prompt, promptFile, dispatch }: TaskValues): void {
  const [flag] = Object.entries({ '--prompt': prompt, '--prompt-file': promptFile, '--dispatch': dispatch }).flatMap(
    ([name, value]) => (value === undefined ? [] : [name]),
  );
  if (flag !== undefined)
    throw new CmoError(
      errorBody('CMO_E_UNSATISFIABLE', `--batch and ${flag} together`, {
        fix: 'each task of a batch stands in its file: say one of them',
      }),
    );
}
