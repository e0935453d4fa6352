import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openGate } from '#gate';
import { waitUntil } from '../support/wait-until.js';
import { openFlow, untilThere, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
afterEach(() => box.close());

const PROGRAM = new URL('../../dist/cmo.cjs', import.meta.url).pathname;

/**
 * A box whose agents find `cmo`, with one slot of everything:
 * an agent that waits for its own child would wait for ever.
 */
function boxOfOne(): FlowBox {
  const made = openFlow({ config: { slots: { account: 1, node: 1, dark: 1 } } });
  const cmo = join(made.folder, 'bin', 'cmo');
  writeFileSync(cmo, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(cmo, 0o755);
  return made;
}

/** Its agent sends that prompt by `cmo run` and prints the answer. */
const sends = (prompt: string, ...flags: string[]): string =>
  `[[sim:tool cmd="printf '%s' '${prompt}' | cmo run --human ${flags.join(' ')} 2>&1"]]`;

test('an agent that waits for its own lends its slot: with one slot both come to their end', async () => {
  box = boxOfOne();
  const go = join(box.folder, 'go');
  writeFileSync(join(box.folder, 'child.md'), untilThere(go, 'the-child-answered'));
  const parent = await box.submit(
    `[[sim:tool cmd="cmo run --human --pin codex --prompt-file ${join(box.folder, 'child.md')} 2>&1"]]`,
    '--pin',
    'codex',
  );
  await waitUntil(() => Object.keys(box.starts()).length === 2, { what: 'the child to start' });
  const gate = openGate(box.redis(), box.settings());
  const { reservations, inFlight } = await gate.snapshot('codex');
  expect(reservations.filter(({ lent }) => lent).map(({ id }) => id)).toEqual([`${parent}.1`]);
  expect(inFlight).toBe(1);

  writeFileSync(go, '');
  const envelope = await box.wait(parent);
  expect(envelope.ok).toBe(true);
  expect(envelope.result).toContain('the-child-answered');
  const rows = await box.ls();
  const child = rows.find(({ id }) => id !== parent)?.id ?? '';
  expect((await box.show(child)).record.request.parent).toBe(`${parent}.1`);
  expect(await problemsAtRest(box, [parent, child])).toEqual([]);
}, 90_000);

test('an agent of an agent may send none further', async () => {
  box = openFlow();
  const cmo = join(box.folder, 'bin', 'cmo');
  writeFileSync(cmo, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(cmo, 0o755);
  for (const [name, prompt] of [
    ['third', '[[sim:echo text=too-deep]]'],
    ['second', `[[sim:tool cmd="cmo run --human --pin codex --prompt-file ${join(box.folder, 'third.md')} 2>&1"]]`],
    ['first', `[[sim:tool cmd="cmo run --human --pin codex --prompt-file ${join(box.folder, 'second.md')} 2>&1"]]`],
  ] as const) {
    writeFileSync(join(box.folder, `${name}.md`), prompt);
  }
  const envelope = await box.run(sends(`[[sim:echo]]`, '--pin', 'codex'), '--pin', 'codex');
  expect(envelope.ok).toBe(true);
  const deep = await box.run(
    `[[sim:tool cmd="cmo run --human --pin codex --prompt-file ${join(box.folder, 'first.md')} 2>&1"]]`,
    '--pin',
    'codex',
  );
  expect(deep.result).toContain('may not dispatch further agents');
  expect(deep.result).not.toContain('too-deep');
}, 90_000);
