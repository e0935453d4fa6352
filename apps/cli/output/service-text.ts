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
    ...files.flatMap(({ path, text }) =>
      text === null
        ? [`would remove ${path}`]
        : [
            `would write ${path}:`,
            '',
            ...text
              .trimEnd()
              .split('\n')
              .map((line) => `    ${line}`),
            '',
          ],
    ),
    ...(commands.length === 0 ? [] : ['would run:', ...commands.map((line) => `    ${line}`)]),
    paint.dim('nothing was changed'),
  ];
}

function stateText(
  { kind, file, node, program, state, enabled, running, linger, problems }: ServiceState,
  paint: Paint,
): string[] {
  const word = (value: boolean | null, yes: string, no: string, unknown: string): string =>
    value === null ? paint.dim(unknown) : value ? yes : paint.yellow(no);
  return [
    ...(kind === null
      ? []
      : [
          `service  ${kind}: ${file}`,
          ...(program === null ? [] : [`starts   ${program}`, `by       ${node}`, `for      ${state}`]),
          `now      ${word(enabled, kind === 'launchd' ? 'starts with your login' : 'starts with the box', 'not enabled', 'not known whether enabled')}, ${word(running, 'running', 'not running', 'not known whether it runs')}`,
          ...(linger === null
            ? []
            : [`linger   ${word(linger, 'on: it starts without a login and stays after a logout', 'off', '')}`]),
        ]),
    ...problems.flatMap(({ what, fix }) => [
      paint.yellow(`         ${what}`),
      `         ${paint.dim('to mend it:')} ${fix}`,
    ]),
    ...(problems.length === 0 ? [paint.green('queued work goes on after a reboot')] : []),
  ];
}
