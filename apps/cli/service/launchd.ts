import { join } from 'node:path';
import { MARK, namedBy, type Definition, type Named } from './definition.js';
import type { Platform } from './platform.js';

export const LABEL = 'cross-model-orchestrate';

/** An agent of launchd (macOS): it begins with the person's login, not with the box. */
export const LAUNCHD: Platform = {
  kind: 'launchd',
  file: ({ home }) => join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`),
  mode: 0o644,
  text: plistText,
  read: readPlist,
  installSteps: ({ uid, home }) => [
    { run: ['launchctl', 'bootout', `gui/${uid}/${LABEL}`], mayFail: true },
    { run: ['launchctl', 'enable', `gui/${uid}/${LABEL}`] },
    { run: ['launchctl', 'bootstrap', `gui/${uid}`, LAUNCHD.file({ uid, home, configHome: '', config: '' })] },
  ],
  uninstallSteps: ({ uid }) => ({
    before: [{ run: ['launchctl', 'bootout', `gui/${uid}/${LABEL}`], mayFail: true }],
    after: [],
  }),
};

function plistText({ command, environment, words }: Definition): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${MARK} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    <string>${escaped(word)}</string>`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${environment.map(([name, value]) => `    <key>${escaped(name)}</key>\n    <string>${escaped(value)}</string>`).join('\n')}
  </dict>
  <key>WorkingDirectory</key>
  <string>/</string>
  <key>StandardErrorPath</key>
  <string>${escaped(words)}</string>
  <key>RunAtLoad</key>
  <true/>
  <!-- 0 means that it was told to stop; anything else, a crash or another version on disk, starts it again. -->
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <!-- Agents and the private Redis go on when the daemon ends: the next one takes them up. -->
  <key>AbandonProcessGroup</key>
  <true/>
</dict>
</plist>
`;
}

const ENTITIES: readonly (readonly [string, string])[] = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
];

function escaped(text: string): string {
  return ENTITIES.reduce((done, [plain, entity]) => done.replaceAll(plain, entity), text);
}

function readPlist(text: string): Named | null {
  const list = /<key>ProgramArguments<\/key>\s*<array>(.*?)<\/array>/s.exec(text)?.[1];
  if (!text.includes(MARK) || list === undefined) return null;
  const plain = (word: string): string =>
    ENTITIES.toReversed().reduce((done, [character, entity]) => done.replaceAll(entity, character), word);
  return namedBy([...list.matchAll(/<string>(.*?)<\/string>/gs)].map(([, word = '']) => plain(word)));
}
