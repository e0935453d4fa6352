import { dirname, join } from 'node:path';
import { MARK, namedBy, shellQuoted, type Definition, type Named } from './definition.js';
import type { Platform } from './platform.js';

/** A line of crontab that starts a script of ours at boot, for boxes without a systemd of the user's. */
export const CRON: Platform = {
  kind: 'cron',
  file: ({ config }) => join(config, 'service.sh'),
  mode: 0o700,
  text: scriptText,
  read: readScript,
  // The table is not changed by a command but as a whole (crontab.ts), and the script is started beside it
  // (install.ts).
  installSteps: () => [],
  uninstallSteps: () => ({ before: [], after: [] }),
};

/** What marks our line. All else of the table is somebody else's. */
const LINE_MARK = '# cmo service';

/**
 * cron has neither a restart nor room for a long PATH in a line, so both are a shell's, which stays for as long as the
 * daemon is kept running: two megabytes.
 */
function scriptText({ command, program, environment, words }: Definition): string {
  return `#!/bin/sh
# ${MARK}
# cron starts it with the box.
${environment.map(([name, value]) => `export ${name}=${shellQuoted(value)}`).join('\n')}
cd /
(umask 077 && mkdir -p ${shellQuoted(dirname(words))})
# 0 means that it was told to stop. Anything else, a crash or another version on disk, starts it again; agents go on meanwhile.
until ${command.map(shellQuoted).join(' ')} 2>>${shellQuoted(words)} </dev/null >/dev/null; do
  sleep 2
  # A package that was removed is not tried again every two seconds.
  until [ -e ${shellQuoted(program)} ]; do sleep 60; done
done
`;
}

function readScript(text: string): Named | null {
  const line = text.split('\n').find((one) => one.startsWith('until '));
  if (!text.includes(MARK) || line === undefined) return null;
  return namedBy([...line.matchAll(/'((?:[^']|'\\'')*)'/g)].map(([, word = '']) => word.replaceAll("'\\''", "'")));
}

/** `table` as it is, each byte a letter, and our line at its end. */
export function withLine(table: string, script: string): string {
  const rest = withoutLine(table);
  const line = Buffer.from(
    `@reboot /bin/sh ${shellQuoted(script).replaceAll('%', '\\%')} ${LINE_MARK}`,
    'utf8',
  ).toString('latin1');
  return `${rest}${rest === '' || rest.endsWith('\n') ? '' : '\n'}${line}\n`;
}

export function withoutLine(table: string): string {
  return table
    .split('\n')
    .filter((line) => !isOurs(line))
    .join('\n');
}

export function hasLine(table: string): boolean {
  return table.split('\n').some(isOurs);
}

function isOurs(line: string): boolean {
  return line.startsWith('@reboot ') && line.trimEnd().endsWith(LINE_MARK);
}
