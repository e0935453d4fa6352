import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * systemctl, loginctl and crontab, played: they answer as the real ones do (systemd 255, cronie) and keep what they
 * were told in a folder of the test's. They start nothing. First on
 * PATH they also keep a test from the real ones of whoever runs it.
 */
export type ServiceTools = {
  /** Each call, as it was typed. */
  calls(): string[];
  forget(): void;
  /** Null: there is none. */
  table(): Buffer | null;
  setTable(table: string | Buffer): void;
  set(what: 'no-bus' | 'no-crontab' | 'linger' | 'enabled' | 'active', on: boolean): void;
};

export function serviceTools(bin: string, folder: string): ServiceTools {
  mkdirSync(folder, { recursive: true });
  const at = (name: string): string => join(folder, name);
  const program = (name: string, script: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\ncd '${folder}' || exit 70\necho "${name} $*" >> calls\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program(
    'systemctl',
    `[ -e no-bus ] && { echo 'Failed to connect to bus: No medium found' >&2; exit 1; }
unit=\${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/cmo.service
case "$*" in
  '--user show --property=Version') echo Version=255 ;;
  '--user daemon-reload') ;;
  '--user enable --now cmo.service') [ -f "$unit" ] || { echo 'Failed to enable unit: Unit file cmo.service does not exist.' >&2; exit 1; }; touch enabled active ;;
  '--user restart cmo.service') touch active ;;
  '--user disable --now cmo.service') rm -f enabled active ;;
  '--user is-enabled cmo.service') [ -e enabled ] && echo enabled || { echo disabled; exit 1; } ;;
  '--user is-active cmo.service') [ -e active ] && echo active || { echo inactive; exit 3; } ;;
  *) echo "Unknown command: $*" >&2; exit 64 ;;
esac`,
  );
  program('loginctl', `[ "$1" = show-user ] || exit 64\n[ -e linger ] && echo Linger=yes || echo Linger=no`);
  program(
    'crontab',
    `[ -e no-crontab ] && { echo 'You (me) are not allowed to use this program (crontab)' >&2; exit 1; }
case "$*" in
  -l) [ -e table ] && exec cat table; echo 'no crontab for me' >&2; exit 1 ;;
  -) exec cat > table ;;
  *) exit 64 ;;
esac`,
  );
  return {
    calls: () => (existsSync(at('calls')) ? readFileSync(at('calls'), 'utf8').trim().split('\n') : []),
    forget: () => rmSync(at('calls'), { force: true }),
    table: () => (existsSync(at('table')) ? readFileSync(at('table')) : null),
    setTable: (table) => writeFileSync(at('table'), table),
    set: (what, on) => (on ? writeFileSync(at(what), '') : rmSync(at(what), { force: true })),
  };
}
