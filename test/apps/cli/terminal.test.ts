import { spawn, spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { waitUntil } from '../../support/wait-until.js';
import { buildCli } from './support/build-cli.js';
import { data, envelope, fakeDaemon, oneDispatch, succeeded } from './support/fake-daemon.js';
import { collect, freshBox, type Box, type Ran } from './support/run-cli.js';

/** util-linux' script gives a child a terminal of its own; the BSD one has other flags. */
const hasTerminal = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux') ?? false;
const { program } = await buildCli();

function onTerminal(box: Box, words: string, env: Record<string, string> = {}, typed = ''): Promise<Ran> {
  const child = spawn('script', ['-qec', `'${process.execPath}' '${program}' ${words}`, '/dev/null'], {
    cwd: box.folder,
    env: { ...box.env, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    stdio: 'pipe',
  });
  return collect(child, typed).ran;
}
const ESCAPE = '\u001b';

test.skipIf(!hasTerminal)(
  'at a terminal run prints the bare answer, tells what goes on, and is interactive work',
  async () => {
    const box = await freshBox();
    let asked = 0;
    const daemon = await fakeDaemon(
      box.state,
      oneDispatch((id) =>
        asked++ < 1
          ? envelope(id, {
              waiting: { for: 'slot', why: 'every slot of codex is taken', until: null },
              state: 'queued',
            })
          : succeeded(id, 'line 1'),
      ),
    );
    const { code, stdout } = await onTerminal(box, 'run --prompt task');
    expect(code).toBe(0);
    expect(stdout).toContain('waiting-slot: every slot of codex is taken · 12s');
    expect(stdout).toContain(`\r${ESCAPE}[2K`);
    expect(stdout).toContain('[2Kline 1\r\n');
    expect(stdout).toMatch(/d-\S+ · \S*succeeded/);
    expect(daemon.submitted()[0]).toMatchObject({ class: 'interactive' });
    await daemon.close();
  },
);

test.skipIf(!hasTerminal)(
  'at a terminal a wait for many tells how far they are, and Node warns of nothing',
  async () => {
    const box = await freshBox();
    const ids = Array.from({ length: 12 }, (_, i) => `d-01JE00000000000000000000${10 + i}`);
    const asked = new Map<string, number>();
    const why = 'codex refused work (usage_limit), and so did every other lane that it could go to';
    const daemon = await fakeDaemon(
      box.state,
      oneDispatch((id, { query }) => {
        asked.set(id, (asked.get(id) ?? 0) + 1);
        // As the daemon does, an answer is kept back until there is news: all of them are under way at once.
        if ((asked.get(id) ?? 0) > 1 && query.has('wait'))
          return new Promise((r) => setTimeout(() => r(succeeded(id)), 300));
        return envelope(id, { state: 'queued', waiting: { for: 'quota', why, until: null }, batch: 'night' });
      }),
    );
    const { code, stdout } = await onTerminal(box, `wait ${ids.join(' ')}`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/batch night: 0 of 12 ended · waiting-quota: codex refused work .*… · 12s/);
    expect(stdout).toContain('cmo: Ctrl-C cancels all 12; when this terminal is closed they go on');
    expect(stdout).toMatch(/d-01JE0000000000000000000021 · \S+ · codex gpt-5.6-terra · 12s\r\n/);
    expect(stdout).toContain('12 dispatches: 12 succeeded, 0 not');
    expect(stdout).not.toContain('Warning');
    await daemon.close();
  },
);

test.skipIf(!hasTerminal)('in CI, and with NO_COLOR, nothing moves and nothing is coloured', async () => {
  const box = await freshBox();
  let asked = 0;
  const daemon = await fakeDaemon(
    box.state,
    oneDispatch((id) => (asked++ < 1 ? envelope(id) : succeeded(id))),
  );
  const { stdout } = await onTerminal(box, 'run --prompt task', { CI: '1', NO_COLOR: '1' });
  expect(stdout).not.toContain(ESCAPE);
  await waitUntil(() => asked === 2);
  await daemon.close();
});

test.skipIf(!hasTerminal)('without a prompt at a terminal it does not sit and wait', async () => {
  const box = await freshBox();
  const { code, stdout } = await onTerminal(box, 'run');
  expect(code).toBe(2);
  expect(stdout).toContain('no prompt was given, and stdin is a terminal');
});

test.skipIf(!hasTerminal).each([
  ['y', 1],
  ['n', 0],
  ['', 0],
])('at a terminal a selection is shown with its count, and cancelled only after a yes: %j', async (typed, cancels) => {
  const box = await freshBox();
  const matched = { matched: 12, states: { queued: 10, running: 2 }, cancelled: 0, alreadyEnded: 0, asked: [] };
  const daemon = await fakeDaemon(box.state, ({ body }) =>
    data('cmo.cancel/1', (body as { dryRun: boolean }).dryRun ? matched : { ...matched, cancelled: 12 }),
  );
  const { code, stdout } = await onTerminal(box, 'cancel --batch night', {}, `${typed}\n`);
  expect(code).toBe(0);
  expect(stdout).toContain('cancel 12 dispatches: 10 queued, 2 running');
  expect(stdout).toContain('cancel them? [y/N]');
  expect(
    daemon.received.filter(({ path, body }) => path === '/v1/cancel' && !(body as { dryRun: boolean }).dryRun),
  ).toHaveLength(cancels);
  await daemon.close();
});

test.skipIf(!hasTerminal)('at a terminal of 80 columns no line of a listing or of the help is longer', async () => {
  const box = await freshBox();
  const waiting = { for: 'quota', why: 'claude refused work (usage_limit)', until: null } as const;
  const submittedAt = new Date().toISOString();
  const one = {
    ...{ id: 'd-01JE0000000000000000000001', state: 'queued', lane: 'claude', vendor: 'anthropic', model: 'sonnet' },
    ...{ tier: 'balanced', role: 'architecture', class: 'batch', project: 'a-project-with-a-name', batch: null },
    ...{ node: null, attempts: 0, submittedAt, startedAt: null, endedAt: null, waiting, cancelAsked: false },
    ...{ needsLook: false, independence: null, degradedReview: false, progress: null, error: null },
  };
  const daemon = await fakeDaemon(box.state, () => data('cmo.dispatches/1', { dispatches: [one] }));
  const columns = async (words: string): Promise<string[]> =>
    (await onTerminal(box, words, { NO_COLOR: '1' })).stdout.split('\r\n');
  const listed = await columns('ls');
  expect(listed.map((line) => line.length).filter((length) => length > 80)).toEqual([]);
  expect(listed[1]).toMatch(/^d-01JE0000000000000000000001 {2}queued .* architecture$/);
  expect(listed[2]).toBe('  waiting-quota: claude refused work (usage_limit)');
  // An example is there to be copied, so it is not broken.
  const help = (await columns('help run')).filter((line) => line.length > 80 && !line.startsWith('  cmo '));
  expect(help).toEqual([]);
  await daemon.close();
  for (const words of ['plan --role judge', 'limits', 'doctor', ''])
    expect((await columns(words)).filter((line) => line.length > 80 && !/\S{40}|fix:/.test(line))).toEqual([]);
});
