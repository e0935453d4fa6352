import { isEnded, type DispatchRow, type SubmitData } from '#contract';
import { call } from '../apps/daemon/home.js';
import type { FlowBox } from '../flows/flow-box.js';
import { STAND_INS } from '../flows/flow-box.js';
import { newId } from '../support/records.js';
import { oneOf, type Random } from '../support/seeded.js';
import { sleep, waitUntil } from '../support/wait-until.js';

type Kind = { name: string; prompt: string; role: 'research' | 'implement'; pin?: 'codex' | 'claude'; fails?: true };

/**
 * What a night is made of: quick and slow, retried, refused, moved to
 * the other vendor, and writers, some of which leave children behind.
 */
const KINDS: readonly [Kind, ...Kind[]] = [
  { name: 'quick', prompt: '[[sim:echo]]', role: 'research' },
  { name: 'quick', prompt: '[[sim:echo]]', role: 'research', pin: 'claude' },
  { name: 'slow', prompt: '[[sim:slow seconds=0.6]]', role: 'research' },
  { name: 'slow', prompt: '[[sim:slow seconds=1]]', role: 'research', pin: 'codex' },
  { name: 'retried', prompt: '[[sim:empty times=1 then=echo]]', role: 'research' },
  { name: 'moved', prompt: '[[codex:usage-limit resets_in=1 times=1 then=echo]] [[claude:echo]]', role: 'research' },
  { name: 'refused', prompt: '[[sim:bad-request]]', role: 'research', fails: true },
  { name: 'writer', prompt: '[[sim:tool cmd="sleep 0.4; echo done"]]', role: 'implement' },
  {
    name: 'stray',
    prompt: `[[sim:tool cmd="${STAND_INS}forks-a-setsid-stray > /dev/null 2>&1; sleep 0.2"]]`,
    role: 'implement',
  },
];

/** Work that comes in while a box is struck, and what became of it. */
export class Work {
  /** Every id whose submit was acknowledged, with what it is. */
  readonly known = new Map<string, Kind>();
  readonly cancelled = new Set<string>();
  private readonly commands: Promise<unknown>[] = [];
  private readonly box: FlowBox;
  private readonly random: Random;

  constructor(box: FlowBox, random: Random) {
    this.box = box;
    this.random = random;
  }

  /** One of each kind. */
  submitEach(): Promise<void> {
    return this.send(KINDS);
  }

  submit(count: number): Promise<void> {
    return this.send(Array.from({ length: count }, () => oneOf(this.random, KINDS)));
  }

  /** All in one call, sent again until it is answered, as the CLI does: its ids are its own. */
  private async send(kinds: readonly Kind[]): Promise<void> {
    const { box } = this;
    const wanted = kinds.map((kind) => ({ id: newId(), kind }));
    const dispatches = wanted.map(({ id, kind: { prompt, role, pin } }, i) => ({
      id,
      prompt: `${i} ${prompt}`,
      role,
      cwd: box.work,
      env: { PATH: box.env['PATH'] ?? '', HOME: box.env['HOME'] ?? '' },
      ...(pin && { pin }),
    }));
    await waitUntil(
      () =>
        call<SubmitData>(box.paths.apiSocket, 'POST', '/v1/dispatches', { dispatches }).then(
          ({ ok }) => ok,
          () => false,
        ),
      { what: 'a submit to be taken', timeoutMs: 60_000, everyMs: 100 },
    );
    for (const { id, kind } of wanted) this.known.set(id, kind);
  }

  /** A person's `submit` or `run`, which the strike may hit in the middle; acknowledged when it printed its id. */
  client(): { pid: number } {
    const word = oneOf(this.random, ['submit', 'run'] as const);
    const started = this.box.start([word, '--role', 'research', '--json'], { input: 'by hand [[sim:echo]]' });
    this.commands.push(
      started.ended.then(({ code, stdout }) => {
        const id = /"dispatchId": "(d-[0-9A-Z]{26})"/.exec(stdout)?.[1];
        if (code === 0 && id !== undefined) this.known.set(id, KINDS[0]);
      }),
    );
    return started;
  }

  cancelOne(): void {
    const ids = [...this.known.keys()];
    const id = ids[Math.floor(this.random() * ids.length)];
    if (id === undefined) return;
    this.cancelled.add(id);
    this.commands.push(this.box.cmo(['cancel', id]));
  }

  /** All that is on record, ended; among it what was recorded for a client that didn't live to hear of it. */
  async ended(): Promise<DispatchRow[]> {
    await Promise.all(this.commands);
    return waitUntil(
      async () => {
        const rows = await this.box.ls().catch(() => []);
        return rows.length >= this.known.size && rows.every(({ state }) => isEnded(state)) ? rows : null;
      },
      { what: 'all work to end', timeoutMs: 90_000, everyMs: 300 },
    ).catch(async (error: unknown) => {
      const open = (await this.box.ls())
        .filter(({ state }) => !isEnded(state))
        .map(
          ({ id, state, lane, waiting }) =>
            `${id} ${this.known.get(id)?.name ?? ''} ${state} ${lane ?? ''} ${JSON.stringify(waiting)}`,
        );
      throw new Error(`${(error as Error).message}; open: ${open.join('; ')}`);
    });
  }

  /**
   * Ends that nothing which was done to the box explains. Violence may fail what met it three times, or a writer once.
   */
  surprises(rows: readonly DispatchRow[]): string[] {
    const lost = [...this.known.keys()].filter((id) => !rows.some((row) => row.id === id));
    return [
      ...lost.map((id) => `${id} was acknowledged and is not on record`),
      ...rows.flatMap(({ id, state, needsLook }) => {
        const kind = this.known.get(id);
        const violent = this.box
          .attemptLines(id)
          .filter(({ outcome }) => outcome === 'interrupted' || outcome === 'lost' || outcome === 'failed').length;
        if (kind?.fails ? state === 'failed' : state === 'succeeded') return [];
        if (state === 'cancelled' && this.cancelled.has(id)) return [];
        if (state === 'failed' && (needsLook || violent >= 3)) return [];
        return [`${id} (${kind?.name ?? 'by hand'}) ended ${state}`];
      }),
    ];
  }
}

/** A pause that doesn't follow a beat. */
export function jitter(random: Random, mostMs: number): Promise<void> {
  return sleep(random() * mostMs);
}
