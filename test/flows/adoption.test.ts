import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Envelope } from '#contract';
import { waitUntil } from '../support/wait-until.js';
import { openFlow, untilThere, type FlowBox } from './flow-box.js';
import { problemsAtRest } from './oracle.js';

let box: FlowBox;
beforeEach(() => {
  box = openFlow();
});
afterEach(() => box.close());

test.each([
  ['the daemon', false],
  ['the daemon and Redis', true],
])(
  'after a kill -9 of %s while two agents run, and up again, both finish: started once, told once',
  async (_victim, redisToo) => {
    const go = join(box.folder, 'go');
    // One is waited for by a client that lives through it, one by nobody.
    const attended = box.start(['run', '--pin', 'codex'], { input: untilThere(go, 'attended') });
    const alone = await box.submit(untilThere(go, 'alone'), '--pin', 'claude');
    await waitUntil(() => box.ledger().length === 2, { what: 'two agents to run' });

    const [daemon, redis] = [box.daemon(), box.redisPid()];
    await Promise.all([box.killDaemon(), ...(redisToo ? [box.killRedis()] : [])]);
    await box.up();
    expect(box.daemon()).not.toBe(daemon);
    if (redisToo) expect(box.redisPid()).not.toBe(redis);
    else expect(box.redisPid()).toBe(redis);
    expect(box.ledger().map(({ event }) => event)).toEqual(['start', 'start']);

    writeFileSync(go, '');
    const ran = await attended.ended;
    expect(ran).toMatchObject({ code: 0 });
    const first = JSON.parse(ran.stdout) as Envelope;
    expect(first.result).toContain('attended');
    const second = await box.wait(alone);
    expect(second).toMatchObject({ ok: true, state: 'succeeded' });
    expect(second.result).toContain('alone');

    const ids = [first.dispatchId, alone];
    expect(await problemsAtRest(box, ids)).toEqual([]);
    expect(box.starts()).toEqual(Object.fromEntries(ids.map((id) => [`${id}.1`, 1])));
    for (const id of ids) {
      const lines = box.linesOf(id);
      expect(lines.map(({ kind }) => kind)).toEqual(['attempt', 'dispatch']);
      expect(lines[0]).toMatchObject({ outcome: 'ok', adopted: true });
    }
  },
);
