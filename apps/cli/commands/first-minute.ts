import { existsSync } from 'node:fs';
import { DEFAULT_CONFIG, VERSION, type StatusData } from '#contract';
import { loadConfig, processOptions } from '#config';
import type { Context } from '../command.js';
import { onPath } from '../doctor/on-path.js';
import { fitted, table } from '../output/table.js';
import { askStatus } from './status.js';

/**
 * `cmo` alone: how this box stands, in a few lines, and what to type next. It starts and asks nothing that could wait.
 */
export async function firstMinute(context: Context): Promise<number> {
  const { env, paths, paint, output } = context;
  const loaded = loadConfig(processOptions(env));
  const { lanes } = loaded.ok ? loaded.config : DEFAULT_CONFIG;
  const found = lanes.map((lane) => ({ lane, path: onPath(lane.command, env['PATH'])[0] }));
  const status = await askStatus(paths).catch(() => null);
  const lines = [
    `cmo ${VERSION}: agent tasks on the Claude and Codex subscriptions you have, up to their windows and not past them`,
    '',
    ...table([
      ...found.map(({ lane, path }) => [
        `  ${lane.id}`,
        path ?? paint.yellow(`missing: ${lane.command} is not on PATH`),
      ]),
      ['  config', loaded.ok ? (loaded.file ?? 'none, so the defaults') : paint.red('has errors: `cmo config check`')],
      ['  daemon', daemonText(status, existsSync(paths.redis))],
    ]),
    '',
    'next:',
    ...table(
      next(
        found.some(({ path }) => path !== undefined),
        status,
        existsSync(paths.redis),
      ).map(([line, why]) => [`  ${line}`, paint.dim(why)]),
    ),
  ];
  for (const line of fitted(lines, output.columns, 2)) output.line(line);
  return 0;
}

function daemonText(status: StatusData | null, before: boolean): string {
  if (status === null)
    return before
      ? 'does not run; `cmo up` starts it, or the next command that needs it'
      : 'has never run here; the first run or submit starts it';
  const { queued, running, retrying } = status.counts;
  return `up: ${queued + retrying} waiting, ${running} running`;
}

function next(anyProgram: boolean, status: StatusData | null, before: boolean): [string, string][] {
  const rows: [string, string][] = [['cmo doctor', 'what is missing here']];
  if (anyProgram)
    rows.push(
      ["echo 'why is the build slow?' | cmo run --role research", 'one task, now'],
      ['cmo submit --prompt-file task.md', 'into the queue'],
    );
  if (status !== null || before) rows.push(['cmo ls', 'what became of it']);
  rows.push(['cmo help', 'every command']);
  return rows;
}
