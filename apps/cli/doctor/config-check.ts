import { statSync } from 'node:fs';
import { problemText, renderDiagnostics } from '#config';
import { laneProblems } from '../request/lane-problems.js';
import { fail, ok, warn, type Patient, type Row } from './row.js';

/** The configuration: readable, without contradictions, and private when it may hold secrets. */
export function checkConfig({ loaded, config, context }: Patient): Row[] {
  if (!loaded.ok)
    return [
      fail(
        'config',
        renderDiagnostics(loaded.diagnostics).join('\n'),
        'fix what is listed; `cmo config schema` prints every key',
      ),
    ];
  const { file, warnings } = loaded;
  const rows = [
    ...warnings.map((warning) => warn('config', problemText(warning), 'correct the name, or remove it')),
    ...laneProblems(config).map((problem) =>
      fail('config', problem, 'change it in the config file; nothing runs until then'),
    ),
  ];
  if (file !== null && mayHoldSecrets(config) && othersCanRead(file))
    rows.push(warn('config', `${file} may hold secrets, and others can read it`, `chmod 600 '${file}'`));
  return rows.length > 0 ? rows : [ok('config', file ?? `no file; ${context.paths.configFile} would be read`)];
}

function mayHoldSecrets({ redisUrl, fleet, lanes }: Patient['config']): boolean {
  return redisUrl !== null || fleet.token !== null || lanes.some((lane) => Object.keys(lane.env).length > 0);
}

function othersCanRead(file: string): boolean {
  return process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0;
}
