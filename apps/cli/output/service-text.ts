import type { ServiceData, ServiceState } from '#contract';
import type { Paint } from './paint.js';

export function serviceText(data: ServiceData, paint: Paint): string[] {
  const { did, dryRun, service, files, commands, notes } = data;
  if (dryRun) return [...notes.map((note) => `note     ${note}`), ...planText(data, paint)];
  const nothing = did !== 'status' && files.length === 0 && commands.length === 0;
  return [
    ...files.map(({ path, text }) => `${text === null ? 'removed ' : 'written '} ${path}`),
    ...commands.map((line) => `ran      ${line}`),
    ...(nothing ? [did === 'uninstall' ? 'nothing of ours is installed' : 'it was so already'] : []),
    ...notes.map((note) => `note     ${note}`),
    ...(did === 'uninstall' ? [] : stateText(service, paint)),
  ];
}

function planText({ did, files, commands }: ServiceData, paint: Paint): string[] {
  if (files.length === 0 && commands.length === 0)
    return [did === 'uninstall' ? 'nothing of ours is installed' : 'it is so already'];
  return [
    ...files.flatMap(({ path, text }) => {
      if (text === null) return [`would remove ${path}`];
      const lines = text.trimEnd().split('\n');
      return [`would write ${path}:`, '', ...lines.map((line) => `    ${line}`), ''];
    }),
    ...(commands.length === 0 ? [] : ['would run:', ...commands.map((line) => `    ${line}`)]),
    paint.dim('nothing was changed'),
  ];
}

function stateText(service: ServiceState, paint: Paint): string[] {
  const { problems } = service;
  return [
    ...(service.kind === null ? [] : installedText(service, paint)),
    ...problems.flatMap(({ what, fix }, i) => [
      `${service.kind === null && i === 0 ? 'service ' : '        '} ${paint.yellow(what)}`,
      `         ${paint.dim('fix:')} ${fix}`,
    ]),
    ...(problems.length === 0 ? [paint.green('queued work goes on after a reboot')] : []),
  ];
}

function installedText(service: ServiceState, paint: Paint): string[] {
  const { kind, file, node, program, state, enabled, running, linger } = service;
  const word = (value: boolean | null, yes: string, no: string, unknown: string): string => {
    if (value === null) return paint.dim(unknown);
    return value ? yes : paint.yellow(no);
  };
  const starts = word(
    enabled,
    kind === 'launchd' ? 'starts with your login' : 'starts with the box',
    'not enabled',
    'not known whether enabled',
  );
  const runs = word(running, 'running', 'not running', 'not known whether it runs');
  const lines = [`service  ${kind}: ${file}`];
  if (program !== null) lines.push(`starts   ${program}`, `by       ${node}`, `for      ${state}`);
  lines.push(`now      ${starts}, ${runs}`);
  if (linger !== null)
    lines.push(`linger   ${word(linger, 'on: it starts without a login and stays after a logout', 'off', '')}`);
  return lines;
}
