import { join } from 'node:path';
import { MARK, namedBy, type Definition, type Named } from './definition.js';
import type { Platform } from './platform.js';

export const UNIT = 'cmo.service';

/** A unit of the user's own manager (Linux). */
export const SYSTEMD: Platform = {
  kind: 'systemd',
  file: ({ configHome }) => join(configHome, 'systemd', 'user', UNIT),
  mode: 0o644,
  text: unitText,
  read: readUnit,
  installSteps: (_place, changed) => [
    { run: ['systemctl', '--user', 'daemon-reload'] },
    { run: ['systemctl', '--user', 'enable', '--now', UNIT] },
    // What ran before runs on as it was; agents and Redis do not notice.
    ...(changed ? [{ run: ['systemctl', '--user', 'restart', UNIT] }] : []),
  ],
  uninstallSteps: () => ({
    before: [{ run: ['systemctl', '--user', 'disable', '--now', UNIT] }],
    after: [{ run: ['systemctl', '--user', 'daemon-reload'] }],
  }),
};

function unitText({ command, program, environment }: Definition): string {
  const [node = '', ...args] = command;
  return `# ${MARK}
[Unit]
Description=cmo, the queue of this account's coding agents
# It may fail all night, for a full disk or a Redis that is away, and shall still be there when that is over.
StartLimitIntervalSec=0
# A package that was removed is not tried again every two seconds.
ConditionPathExists=${program.replaceAll('%', '%%')}

[Service]
Type=exec
WorkingDirectory=/
ExecStart=${[quoted(node), ...args.map((word) => quoted(word).replaceAll('$', '$$$$'))].join(' ')}
${environment.map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`).join('\n')}

# Only the daemon is ended, never its group: the agents have been paid for and are taken up by the next daemon, and they and
# the private Redis go on through a stop, a restart and a crash. (The default, control-group, would kill every one of them.)
KillMode=process
# An agent that the kernel ends for its memory is that agent's end alone. (The default stops the unit.)
OOMPolicy=continue
# It hands over within seconds.
TimeoutStopSec=90

# 0 means that it was told to stop (systemctl, \`cmo down\`). 75: it made way for another version, which is what lies on disk now.
Restart=on-failure
RestartSec=2
RestartForceExitStatus=75
SuccessExitStatus=75

[Install]
WantedBy=default.target
`;
}

/** As systemd reads it: C escapes in double quotes, and % begins a specifier. */
function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`;
}

function readUnit(text: string): Named | null {
  const line = text.split('\n').find((one) => one.startsWith('ExecStart='));
  if (!text.startsWith(`# ${MARK}`) || line === undefined) return null;
  const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) =>
    word.replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%').replaceAll('$$', '$'),
  );
  return namedBy(words);
}
