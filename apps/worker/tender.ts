import { join } from 'node:path';
import { attemptId, thrownMessage, type DispatchRecord } from '#contract';
import {
  askCancel,
  attemptMark,
  endMarked,
  isCancelAsked,
  openSpool,
  readPlan,
  readStatus,
  removeRun,
  startSupervisor,
  supervisorMark,
  voidClaim,
  watchFolder,
  type ProcessIdentity,
  type RunPlan,
  type Spool,
} from '#runner';
import { adapterFor, type RunReader, type StreamSignal } from '#vendors';
import { readConclusion } from './conclusion-file.js';
import { deliver } from './deliver.js';
import { writeEndedBy } from './ended-by.js';
import { ERR_CAP_BYTES, finishRun, OUT_CAP_BYTES, type Ended } from './finish-run.js';
import { environmentHere, environmentOf, submittedEnvironment, type Environment } from './environment.js';
import { payWhatIsOwed } from './owed-after.js';
import { progressTeller } from './progress.js';
import { measureBegan } from './measure-run.js';
import { laneById, type Resources } from './resources.js';
import type { RunRef } from './roster.js';
import { steadyClock } from './steady-clock.js';
import { Watch } from './watch.js';
import { placeOf } from './work-places.js';

/**
 * Watches one run: tails, ends it when a watchdog or a cancel
 * says so, delivers. The same for a started and an adopted one.
 *
 *   unclaimed ──supervisor started──▶ running ──exit record, or its supervisor is gone──▶ delivered
 *       └──no supervisor, claim voided──▶ back to the line (nothing was started)
 *
 * `letGo` ends the watching only: the agent goes on and the next worker adopts it.
 */
export interface Tender {
  dispatch: string;
  attempt: number;
  /** The CLI was started, or it is known that it won't be; bounded. */
  started: Promise<void>;
  done: Promise<void>;
  cancel(): void;
  /** Ends the agent as a stop of the box would, and waits until that is delivered. */
  kill(): Promise<void>;
  letGo(): void;
}

/** The folder is watched for changes; this often it is looked at anyway (silence, a lost event), ms. */
const LOOK_MS = 1_000;
/** Changes of a busy stream are read together, ms. */
const GATHER_MS = 30;
const START_BOUND_MS = 3_000;

export function startTender(resources: Resources, run: RunRef): Tender {
  const stop = new AbortController();
  let cancelled = run.cancelAsked ?? false;
  let poke = (): void => {};
  let startedNow = (): void => {};
  const started = new Promise<void>((resolve) => {
    startedNow = resolve;
  });
  const bound = setTimeout(startedNow, START_BOUND_MS);
  const tending = new Tending(resources, run, {
    stopped: () => stop.signal.aborted,
    cancelled: () => cancelled,
    started: startedNow,
    onPoke: (wake) => {
      poke = wake;
    },
  });
  const done = tending
    .run()
    .catch((error: unknown) => {
      // The scan takes it up again: everything a tender does may be repeated.
      resources.log.error(
        {
          dispatch: run.id,
          attempt: run.attempt,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        },
        'tending failed; the next scan goes on',
      );
    })
    .finally(() => {
      clearTimeout(bound);
      startedNow();
    });
  return {
    dispatch: run.id,
    attempt: run.attempt,
    started,
    done,
    cancel() {
      cancelled = true;
      poke();
    },
    async kill() {
      await endMarked(
        { marks: [attemptMark(attemptId(run.id, run.attempt))] },
        { graceMs: resources.config.timing.killGraceMs },
      );
      poke();
      await done;
    },
    letGo() {
      stop.abort();
      poke();
    },
  };
}

type Signals = {
  stopped: () => boolean;
  cancelled: () => boolean;
  started: () => void;
  onPoke: (wake: () => void) => void;
};

class Tending {
  readonly #r: Resources;
  readonly #run: RunRef;
  readonly #id: string;
  readonly #signals: Signals;
  /** For the watchdogs. */
  readonly #steady: () => number;

  constructor(resources: Resources, run: RunRef, signals: Signals) {
    this.#r = resources;
    this.#run = run;
    this.#id = attemptId(run.id, run.attempt);
    this.#signals = signals;
    this.#steady = steadyClock(resources.clock);
  }

  async run(): Promise<void> {
    const { folder, start } = this.#run;
    const plan = start?.plan ?? (await readPlan(folder));
    if (!plan) throw new Error(`no readable plan in ${folder}`);
    this.#r.places.found(this.#id, placeOf(plan));
    const concluded = start ? null : await readConclusion(folder);
    if (concluded) {
      await deliver(this.#r, await this.#record(), folder, plan.account, concluded);
      return;
    }
    if (!(await this.#ensureStarted(plan))) return;
    if (!this.#run.adopted) measureBegan(this.#r, this.#id, plan);
    const reader = adapterFor(plan.kind).reader();
    const ended = await this.#follow(plan, reader);
    if (ended) await finishRun(this.#r, this.#run, { plan, reader, ended });
  }

  #record(): Promise<DispatchRecord | null> {
    return this.#r.records.read(this.#run.id);
  }

  /**
   * Starts the supervisor where none was. False: nothing was started and nothing will be; the record is back in line.
   */
  async #ensureStarted(plan: RunPlan): Promise<boolean> {
    const { folder, start } = this.#run;
    const env = start ? start.environment : await this.#startFound(plan);
    if (env === 'started') return true;
    if (env === 'cancelled' || this.#signals.cancelled()) return !(await this.#voided(await this.#record()));
    const { came } = await startSupervisor({ folder, plan, env, supervisor: this.#r.supervisor, fork: this.#r.fork });
    const claimed = came !== 'dead' && came !== 'late';
    this.#signals.started();
    return claimed || !(await this.#voided(await this.#record()));
  }

  /** Of a folder that was found: the environment its start needs, if that is still to be made. */
  async #startFound(plan: RunPlan): Promise<Environment | 'started' | 'cancelled'> {
    const status = await readStatus(this.#run.folder);
    if (status.state !== 'unclaimed') return 'started';
    const lane = laneById(this.#r.config, plan.lane);
    if (!lane) throw new Error(`lane ${plan.lane} is no longer configured`);
    const record = await this.#record();
    // The cancel may have been asked before this tender listened.
    if (record?.cancelAsked) return 'cancelled';
    const submitted =
      record === null ? await submittedEnvironment(this.#r, this.#run.id) : await environmentHere(this.#r, record);
    return environmentOf(this.#r, submitted, lane, this.#id, plan.access);
  }

  /** Makes sure that nothing starts from this folder any more; true when nothing ever did. */
  async #voided(record: DispatchRecord | null): Promise<boolean> {
    const { voided } = await voidClaim(this.#run.folder);
    if (!voided) return false;
    if (record) await this.#r.transitions.unstart(record, this.#run.attempt, this.#r.node);
    await removeRun(this.#r.folders.runs, this.#id);
    await payWhatIsOwed(this.#r, this.#run.id);
    return true;
  }

  /** Until it is over. Null: let go. */
  async #follow(plan: RunPlan, reader: RunReader): Promise<Ended | null> {
    const { folder } = this.#run;
    const out = openSpool(join(folder, 'out'), { capBytes: OUT_CAP_BYTES });
    const err = openSpool(join(folder, 'err'), { capBytes: ERR_CAP_BYTES });
    let watch: Watch | null = null;
    let ending: Promise<unknown> | null = null;
    const teller = progressTeller({ ...this.#r, clock: this.#steady }, this.#run, () =>
      this.#r.places.beside(this.#id),
    );
    const changes = watchFolder(folder, { fallbackMs: LOOK_MS, restMs: GATHER_MS });
    this.#signals.onPoke(changes.wake);
    try {
      for (;;) {
        if (this.#signals.stopped()) return null;
        const status = await readStatus(folder);
        if (status.state === 'gone' || status.state === 'void' || status.state === 'unclaimed') return null;
        const now = this.#steady();
        watch ??= new Watch(status.startedAt, now, plan, plan.endpoint !== null);
        await this.#pump(plan, out, err, reader, watch);
        if (status.state === 'exited') {
          await this.#pump(plan, out, err, reader, watch);
          return status;
        }
        teller.tell(reader.progress(), watch.movedAt);
        if (!status.alive)
          return { state: 'dead', startedAt: status.startedAt, cli: status.state === 'running' ? status.cli : null };
        if (status.state === 'running') this.#signals.started();
        if (this.#signals.cancelled() || isCancelAsked(folder)) watch.end('cancel');
        const verdict = watch.verdict(now, reader.progress().toolsRunning);
        if (verdict !== null && ending === null) {
          ending = this.#end(plan, verdict, status.state === 'running' ? status.cli : null)
            // A full disk takes no reason down: it is tried again at the next look.
            .catch((error: unknown) =>
              this.#r.log.warn(
                { dispatch: this.#run.id, error: thrownMessage(error) },
                'a run could not be ended; it is tried again',
              ),
            )
            .finally(() => {
              ending = null;
            });
        }
        await changes.changed();
      }
    } finally {
      changes.close();
      await Promise.all([out.close(), err.close()]);
    }
  }

  async #pump(plan: RunPlan, out: Spool, err: Spool, reader: RunReader, watch: Watch): Promise<void> {
    for (let chunk = await out.next(); chunk !== null; chunk = await out.next()) {
      const signals = reader.out(chunk);
      watch.take(signals, this.#steady());
      this.#readings(plan, signals);
    }
    for (let chunk = await err.next(); chunk !== null; chunk = await err.next()) reader.err(chunk);
    if (out.overflow || err.overflow) watch.end('overflow');
  }

  /**
   * Not waited for: a Redis that is away must not keep the watchdogs from looking. An adopted run's spool
   * is read from its start: what it said of the quota then is old, and the gate drops older readings.
   */
  #readings(plan: RunPlan, signals: readonly StreamSignal[]): void {
    const lane = laneById(this.#r.config, plan.lane);
    if (!lane || this.#run.adopted) return;
    for (const signal of signals)
      if (signal.kind === 'rate-limit-event') void this.#r.meters.claudeEvent(lane, signal.info, this.#r.clock());
  }

  /**
   * Files first, then signals: a successor must know why. The supervisor isn't signalled: it writes the exit record.
   */
  async #end(plan: RunPlan, reason: Parameters<typeof writeEndedBy>[1], cli: ProcessIdentity | null): Promise<void> {
    if (reason === 'cancel') await askCancel(this.#run.folder);
    else await writeEndedBy(this.#run.folder, reason);
    this.#r.log.info({ dispatch: this.#run.id, attempt: this.#run.attempt, reason }, 'ending a run');
    const marks = reason === 'deadline' ? [attemptMark(this.#id), supervisorMark(this.#id)] : [attemptMark(this.#id)];
    await endMarked({ marks, leader: cli ?? undefined }, { graceMs: plan.graceMs });
  }
}
