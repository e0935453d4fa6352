import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { processesOf } from '../support/processes.js';
import { serviceTools, type ServiceTools } from '../support/service-tools.js';
import { unitOf } from '../support/unit.js';
import { waitUntil } from '../support/wait-until.js';
import { openFlow, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
let tools: ServiceTools;
beforeEach(() => {
  box = openFlow({
    config: { slots: { account: 2, node: 8, dark: 8 }, timing: { nodeLeaseMs: 3_000, nodeRenewMs: 1_000 } },
  });
  tools = serviceTools(join(box.folder, 'bin'), join(box.folder, 'tools'));
});
afterEach(() => box.close());

/** What the box would run after a reboot, with nothing but what the service's own file gives it. */
async function installed(
  by: 'systemd' | 'cron',
): Promise<{ command: string[]; environment: Record<string, string>; cwd: string }> {
  const ran = await box.cmo(['service', 'install', '--by', by]);
  expect(ran).toMatchObject({ code: 0 });
  if (by === 'systemd') {
    const { command, environment, settings } = unitOf(
      readFileSync(join(box.folder, 'home/.config/systemd/user/cmo.service'), 'utf8'),
    );
    return { command, environment, cwd: settings['WorkingDirectory'] ?? '' };
  }
  // As cron does: the line's command goes to sh, in the person's home, with two variables.
  const line = tools.table()?.toString().trim().replace('@reboot ', '') ?? '';
  return {
    command: ['/bin/sh', '-c', line],
    environment: { HOME: box.env['HOME'] ?? '', PATH: '/usr/bin:/bin' },
    cwd: box.env['HOME'] ?? '',
  };
}

/**
 * Of the pids that files name some are others' by now; only the boot's id tells.
 * As long as the real one, so that it can be changed inside the append-only file.
 */
function rebootInFiles(): void {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  const other = boot.replaceAll(/[0-9a-f]/g, '0');
  for (const entry of readdirSync(box.stateDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const text = entry.isFile() ? readFileSync(path, 'latin1') : '';
    if (text.includes(boot)) writeFileSync(path, text.replaceAll(boot, other), 'latin1');
  }
}

test.each([
  ['systemd', 'every process was killed', (): void => undefined],
  ['cron', 'every process was killed', (): void => undefined],
  ['systemd', 'the box was rebooted', rebootInFiles],
] as const)(
  'the command of the service (%s) brings the night back after %s, and nobody types anything',
  async (by, _what, change) => {
    const { command, environment, cwd } = await installed(by);
    const hangsOnce = '[[sim:hang times=1 then=echo text="the second one answered"]]';
    const readers = [
      await box.submit(hangsOnce, '--role', 'research', '--pin', 'codex'),
      await box.submit(hangsOnce, '--read-only', '--pin', 'claude'),
    ];
    const writer = await box.submit('[[sim:tool cmd="sleep 2000000"]]', '--role', 'implement', '--pin', 'codex');
    await waitUntil(() => box.ledger().length === 3, { what: 'three agents to run' });
    const waiting = [];
    for (let i = 0; i < 4; i++)
      waiting.push(await box.submit(`[[sim:echo text="after the night ${i}"]]`, '--pin', 'codex'));
    // No session of the vendor's to go on with, as on a box whose agents ended in the middle of their first turn.
    for (const sessions of ['codex-home/sessions', 'claude-home/projects'])
      rmSync(join(box.folder, sessions), { recursive: true, force: true });

    await box.killAll();
    expect(processesOf(box.folder)).toEqual([]);
    expect(box.ledger().filter(({ event }) => event === 'start')).toHaveLength(3);

    change();

    const assigned = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    spawn('/usr/bin/env', ['-i', ...assigned, ...command], { env: {}, cwd, stdio: 'ignore', detached: true }).unref();

    const all = [...readers, writer, ...waiting];
    await waitUntil(() => all.every((id) => box.dispatchLines(id).length > 0), {
      timeoutMs: 55_000,
      what: 'every dispatch to end',
    });
    expect(await problemsAtRest(box, all)).toEqual([]);
    for (const id of readers) {
      expect(box.linesOf(id)).toMatchObject([
        { id: `${id}.1`, outcome: 'interrupted' },
        { id: `${id}.2`, outcome: 'ok' },
        { kind: 'dispatch', state: 'succeeded', answeredBy: `${id}.2` },
      ]);
    }
    expect(box.linesOf(writer)).toMatchObject([
      { id: `${writer}.1`, outcome: 'interrupted' },
      { kind: 'dispatch', state: 'failed', needsLook: true },
    ]);
    for (const id of waiting)
      expect(box.linesOf(id)).toMatchObject([
        { id: `${id}.1`, outcome: 'ok' },
        { kind: 'dispatch', state: 'succeeded', attempts: 1 },
      ]);
    expect(Object.values(box.starts()).every((starts) => starts === 1)).toBe(true);
    expect(await box.status()).toMatchObject({ service: true, pid: box.daemon() });
  },
);
