import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AttemptReceipt } from '#contract';
import {
  askCancel,
  findRun,
  flawOf,
  isCancelAsked,
  isDelivered,
  listRuns,
  makeRun,
  markDelivered,
  MAX_DEADLINE_MS,
  ownIdentity,
  planId,
  readClaim,
  readPlan,
  readReceipt,
  readStatus,
  removeHalfMade,
  removeRun,
  runFiles,
  runPath,
  setAsideRun,
  spoiltPart,
  voidClaim,
  writeReceipt,
} from '#runner';
import { recordRefusedStart } from '#runner/claim';
import { newPlan, tempRuns } from './support.js';

const plan = newPlan(['/bin/true']);
const id = planId(plan);

async function made(): Promise<{ runs: string; folder: string }> {
  const runs = tempRuns();
  const { folder } = await makeRun(runs, { plan, prompt: 'the prompt', schemaText: '{"type":"object"}' });
  return { runs, folder };
}

describe('making a run folder', () => {
  test('it holds the prompt, the plan and the schema, privately, and no claim', async () => {
    const { runs, folder } = await made();
    expect(folder).toBe(runPath(runs, id));
    expect(readdirSync(runs)).toEqual([id]);
    expect(readdirSync(folder).sort()).toEqual(['plan.json', 'prompt', 'schema.json']);
    expect(readFileSync(runFiles(folder).prompt, 'utf8')).toBe('the prompt');
    expect(await readPlan(folder)).toEqual(plan);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(await readStatus(folder)).toEqual({ state: 'unclaimed' });
  });

  test('a second making of the same attempt keeps the first, also at the same moment, and also after its delivery', async () => {
    const runs = tempRuns();
    const all = await Promise.all(['a', 'b', 'c', 'd'].map((prompt) => makeRun(runs, { plan, prompt })));
    expect(all.filter((one) => one.made)).toHaveLength(1);
    expect(readdirSync(runs)).toEqual([id]);
    const kept = readFileSync(join(runPath(runs, id), 'prompt'), 'utf8');
    expect(await makeRun(runs, { plan, prompt: 'another' })).toMatchObject({ made: false, where: 'runs' });
    expect(readFileSync(join(runPath(runs, id), 'prompt'), 'utf8')).toBe(kept);
    await markDelivered(runs, id);
    expect(await makeRun(runs, { plan, prompt: 'another' })).toMatchObject({ made: false, where: 'done' });
    expect(await listRuns(runs)).toEqual([]);
  });

  test('a plan that could not be run is a bug and is refused before anything is written', async () => {
    const flaws = [
      { deadlineMs: Number.NaN },
      { deadlineMs: 0 },
      { deadlineMs: 0.5 },
      { deadlineMs: MAX_DEADLINE_MS + 1 },
      { deadlineMs: Infinity },
      { graceMs: -1 },
      { graceMs: Number.NaN },
      { graceMs: 1e9 },
      { argv: [] },
      { argv: ['codex'] },
      { argv: ['/bin/a', 'b\0c'] },
      { cwd: 'here' },
      { attempt: 0 },
      { dispatch: '../..' },
    ];
    for (const flaw of flaws) {
      const runs = tempRuns();
      expect(flawOf({ ...plan, ...flaw })).not.toBeNull();
      await expect(makeRun(runs, { plan: { ...plan, ...flaw }, prompt: '' })).rejects.toThrow(RangeError);
      expect(existsSync(runs)).toBe(false);
    }
    expect(flawOf({ ...plan, deadlineMs: MAX_DEADLINE_MS, graceMs: 0 })).toBeNull();
  });
});

describe('the list of runs', () => {
  test('names attempts in the order of their dispatches, and ignores everything else in the folder', async () => {
    const runs = tempRuns();
    expect(await listRuns(runs)).toEqual([]);
    const first = newPlan(['/bin/true'], { dispatch: `d-01${'0'.repeat(24)}`, attempt: 2 });
    const second = newPlan(['/bin/true'], { dispatch: `d-02${'0'.repeat(24)}` });
    for (const one of [second, first]) await makeRun(runs, { plan: one, prompt: '' });
    await markDelivered(runs, (await makeRun(runs, { plan, prompt: '' }), id));
    mkdirSync(join(runs, '.new-123-abc'));
    writeFileSync(join(runs, 'notes'), '');
    expect(await listRuns(runs)).toEqual([
      { id: planId(first), dispatch: first.dispatch, attempt: 2, folder: runPath(runs, planId(first)) },
      { id: planId(second), dispatch: second.dispatch, attempt: 1, folder: runPath(runs, planId(second)) },
    ]);
  });

  test('half-made folders are removed once they are old; others never are', async () => {
    const { runs } = await made();
    for (const name of ['.new-1-old', '.new-1-young']) mkdirSync(join(runs, name));
    utimesSync(join(runs, '.new-1-old'), 1_000, 1_000);
    utimesSync(runPath(runs, id), 1_000, 1_000);
    await removeHalfMade(runs, 60_000, Date.now());
    expect(readdirSync(runs).sort()).toEqual(['.new-1-young', id]);
  });

  test('a delivered folder moves away and is still found', async () => {
    const { runs, folder } = await made();
    expect(findRun(runs, id)).toEqual({ folder, where: 'runs' });
    expect(isDelivered(folder)).toBe(false);
    const done = await markDelivered(runs, id);
    expect(findRun(runs, id)).toEqual({ folder: done, where: 'done' });
    expect(isDelivered(done)).toBe(true);
    expect(await readPlan(done)).toEqual(plan);
    expect(await readStatus(folder)).toEqual({ state: 'gone' });
    expect(await markDelivered(runs, id)).toBe(done);
    expect(findRun(runs, 'd-none.1')).toBeNull();
  });

  test('a run that never started may be removed', async () => {
    const { runs } = await made();
    await removeRun(runs, id);
    expect(readdirSync(runs)).toEqual([]);
  });
});

describe('the claim', () => {
  test('a void one is the first and only, and says that nothing was started', async () => {
    const { folder } = await made();
    expect(await voidClaim(folder)).toEqual({ voided: true, claim: { by: ownIdentity(), void: true } });
    expect(await voidClaim(folder)).toMatchObject({ voided: true });
    expect(await readStatus(folder)).toEqual({ state: 'void' });
    expect(await recordRefusedStart(folder, 'E2BIG')).toBe('lost');
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('one whose content was lost in a power cut still counts as a claim by a process that is gone', async () => {
    const { folder } = await made();
    writeFileSync(join(folder, 'claim'), '');
    expect(await readClaim(folder)).toEqual({ by: null, void: false });
    expect(await readStatus(folder)).toMatchObject({ state: 'claimed', alive: false });
    expect((await voidClaim(folder)).voided).toBe(false);
  });

  test('a start that the system refused ends as any other does', async () => {
    const { folder } = await made();
    expect(await recordRefusedStart(folder, 'spawn E2BIG')).toBe('recorded');
    expect(await readStatus(folder)).toMatchObject({
      state: 'exited',
      run: null,
      exit: { code: 127, spawnError: 'spawn E2BIG', timedOut: false },
    });
  });
});

describe('the status', () => {
  const own = ownIdentity();
  const dead = { ...own, ticks: own.ticks - 1 };
  const claimBy = (folder: string, identity: object): void =>
    writeFileSync(join(folder, 'claim'), JSON.stringify(identity));
  const runBy = (folder: string, identity: object): void =>
    writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...identity, cliPid: 17, cliTicks: 18 }));

  test('claimed and running say whether the supervisor lives', async () => {
    for (const [identity, alive] of [
      [own, true],
      [dead, false],
      [{ ...own, bootId: 'before' }, false],
    ] as const) {
      const { folder } = await made();
      claimBy(folder, identity);
      expect(await readStatus(folder)).toMatchObject({ state: 'claimed', alive, claim: { by: identity } });
      runBy(folder, identity);
      expect(await readStatus(folder)).toMatchObject({
        state: 'running',
        alive,
        supervisor: identity,
        cli: { pid: 17, ticks: 18, bootId: identity.bootId },
      });
    }
  });

  test('an exit record written while its writer was found dead still counts', async () => {
    const { folder } = await made();
    claimBy(folder, own);
    runBy(folder, own);
    const diesJustNow = (): boolean => {
      writeFileSync(join(folder, 'exit.json'), JSON.stringify({ code: 0, timedOut: false, spawnError: null }));
      return false;
    };
    expect(await readStatus(folder, diesJustNow)).toMatchObject({ state: 'exited', exit: { code: 0, signal: null } });
  });

  test('codes above 128 name the signal, and a torn run record counts as missing', async () => {
    const { folder } = await made();
    claimBy(folder, dead);
    writeFileSync(join(folder, 'run.json'), '{"pid":1');
    expect(await readStatus(folder)).toMatchObject({ state: 'claimed', alive: false });
    for (const [code, signal] of [
      [143, 'SIGTERM'],
      [137, 'SIGKILL'],
      [130, 'SIGINT'],
      [128, null],
      [1, null],
      [255, null],
    ] as const) {
      writeFileSync(join(folder, 'exit.json'), JSON.stringify({ code, timedOut: false, spawnError: null }));
      expect(await readStatus(folder)).toMatchObject({ exit: { code, signal } });
    }
  });
});

describe('what the tender writes', () => {
  const receipt = { kind: 'attempt', id, outcome: 'ok' } as unknown as AttemptReceipt;

  test('the first receipt stays, and every writer gets the stored one back', async () => {
    const { folder } = await made();
    expect(await readReceipt(folder)).toBeNull();
    const other = { ...receipt, outcome: 'failed' as const };
    const written = await Promise.all([writeReceipt(folder, receipt), writeReceipt(folder, other)]);
    expect(written.filter(({ first }) => first)).toHaveLength(1);
    const there = await readReceipt(folder);
    for (const one of written) expect(one.receipt).toEqual(there);
    expect(await writeReceipt(folder, other)).toEqual({ first: false, receipt: there });
  });

  test('a cancel that was asked is seen by a successor', async () => {
    const { folder } = await made();
    expect(isCancelAsked(folder)).toBe(false);
    await askCancel(folder);
    await askCancel(folder);
    expect(isCancelAsked(folder)).toBe(true);
  });
});

test('a folder copied from another box keeps its names but not its processes', async () => {
  const { runs, folder } = await made();
  writeFileSync(join(folder, 'claim.tmp'), JSON.stringify({ ...ownIdentity(), bootId: 'another box' }));
  linkSync(join(folder, 'claim.tmp'), join(folder, 'claim'));
  renameSync(runs, `${runs}-copied`);
  expect(await readStatus(runPath(`${runs}-copied`, id))).toMatchObject({ state: 'claimed', alive: false });
});

test('a folder made for a lost attempt is created with the claim of a process that is gone', async () => {
  const { folder } = await makeRun(tempRuns(), { plan, prompt: 'the prompt', lost: true });
  expect(await readStatus(folder)).toMatchObject({ state: 'claimed', alive: false });
  expect((await voidClaim(folder)).voided).toBe(false);
});

test('a folder that is set aside makes room for another, and is kept', async () => {
  const { runs } = await made();
  const aside = await setAsideRun(runs, id);
  expect(readFileSync(join(aside, 'prompt'), 'utf8')).toBe('the prompt');
  expect(await listRuns(runs)).toEqual([]);
  expect((await makeRun(runs, { plan, prompt: 'again' })).made).toBe(true);
});

describe('a run folder that somebody spoilt', () => {
  test('is recognised by a part that is not a file, or by not being a folder; a whole or missing one is not', async () => {
    const { runs, folder } = await made();
    expect([await spoiltPart(folder), await spoiltPart(`${folder}0`)]).toEqual([null, null]);
    mkdirSync(join(folder, 'the-agents-own'));
    expect(await spoiltPart(folder)).toBeNull();
    mkdirSync(join(folder, 'exit.json'));
    expect(await spoiltPart(folder)).toBe('exit.json');
    rmSync(join(folder, 'exit.json'), { recursive: true });
    symlinkSync('/etc/passwd', join(folder, 'receipt.json'));
    expect(await spoiltPart(folder)).toBe('receipt.json');
    rmSync(folder, { recursive: true });
    for (const spoil of [
      () => writeFileSync(folder, ''),
      () => symlinkSync(runs, folder),
      () => symlinkSync(folder, folder),
    ]) {
      rmSync(folder, { force: true });
      spoil();
      expect(await spoiltPart(folder)).toBe('the folder itself');
    }
  });

  test('is delivered even if its name is taken among the delivered ones: the other is kept for inspection', async () => {
    const { runs } = await made();
    mkdirSync(join(runs, 'done', id, 'x'), { recursive: true });
    const done = await markDelivered(runs, id);
    expect(readdirSync(done)).toContain('delivered');
    expect(readdirSync(join(runs, 'broken'))).toHaveLength(1);
    expect(await listRuns(runs)).toEqual([]);
  });
});
