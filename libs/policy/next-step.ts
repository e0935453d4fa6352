import type { NextStep, PastFailure, StepFacts, StepFailure } from '#contract';
import { backOffMs, countOf, interruptionLeft, isPoison, laneLeft, retryLeft, VIOLENT_ENDS } from './budget.js';

/**
 * What follows a failed attempt. `history` holds the dispatch's earlier failures, not this one; `facts.otherLanes` are
 * lanes that `decide` would take now. A limit closes the lane and spends no budget; a broken lane is closed until a
 * person repairs it.
 *
 * An agent that may have written (access write, and a tool ran or that is unknown) goes on only in its own vendor
 * session, or on another lane after a limit, auth or overload, where the prompt says so; else it stops with needsLook.
 * `retryWrites` opts out. An attempt that did not begin may begin again as it began (in the session, or as the one that
 * carries on), but where an earlier one did, no other lane takes the work as if it were new.
 */
export function nextStep(failure: StepFailure, history: readonly PastFailure[], facts: StepFacts): NextStep {
  const step = new Steps(history, facts);
  switch (failure.class) {
    case 'rate_limit':
    case 'usage_limit':
      return step.afterLimit(failure.class, instantOf(failure.resetsAt));
    case 'auth':
      return step.afterBrokenLane('auth', true);
    case 'environment':
      if (failure.boxWide) return step.stop('environment: the whole box has it', true);
      return failure.drift ? step.afterDrift() : step.afterBrokenLane('environment', false);
    case 'transient':
      return step.afterPassing('transient', false);
    case 'overloaded':
      return step.afterPassing('overloaded', true);
    case 'killed':
      return step.afterPassing('killed', false);
    case 'schema':
      return step.afterSchema();
    case 'timeout':
    case 'silence':
      return step.afterStall(failure.class);
    case 'model_unavailable':
      return step.afterModelGone();
    case 'deterministic':
    case 'content_refused':
      return step.stop(`${failure.class}: it would fail the same way again`);
    case 'interrupted':
      return step.afterInterruption('interrupted', facts.session !== null);
    case 'lost':
      return step.afterInterruption('lost', false);
  }
}

/** The first step for work with attempts left and another lane free, in the words of `explain failure`. */
export function actionOf(step: NextStep): 'retry_same' | 'switch' | 'fail' {
  switch (step.kind) {
    case 'retry':
      return 'retry_same';
    case 'switch':
    case 'wait':
      return 'switch';
    case 'stop':
      return 'fail';
  }
}

function instantOf(iso: string | null | undefined): number | null {
  const ms = Date.parse(iso ?? '');
  return Number.isNaN(ms) ? null : ms;
}

class Steps {
  readonly #history: readonly PastFailure[];
  readonly #facts: StepFacts;
  /** It may have changed something, in this attempt or before: what decides whether a person has to look. */
  readonly #touched: boolean;
  /** It may have written, and --retry-writes was not given: no lane may start it as if it were new. */
  readonly #bound: boolean;
  /** Touched in this very attempt: here only its own session may go on. */
  readonly #boundHere: boolean;
  readonly #resumable: boolean;
  readonly #others: string[];

  constructor(history: readonly PastFailure[], facts: StepFacts) {
    this.#history = history;
    this.#facts = facts;
    const touchedHere = facts.access === 'write' && facts.began !== 'no';
    this.#touched = touchedHere || (facts.access === 'write' && facts.beganBefore === true);
    this.#bound = this.#touched && !facts.retryWrites;
    this.#boundHere = touchedHere && !facts.retryWrites;
    this.#resumable = facts.session !== null;
    this.#others = facts.failover ? facts.otherLanes.filter((lane) => laneLeft(lane, history, facts.attempts)) : [];
  }

  stop(why: string, closeLane = false): Extract<NextStep, { kind: 'stop' }> {
    return {
      kind: 'stop',
      why: this.#touched ? `${why}; it may have written, so look first` : why,
      needsLook: this.#touched,
      closeLane,
    };
  }

  afterLimit(cls: 'rate_limit' | 'usage_limit', until: number | null): NextStep {
    return this.#elsewhere(cls, true, true) ?? this.#waitHere(cls, until);
  }

  afterBrokenLane(cls: 'auth' | 'environment', mayCarryOn: boolean): NextStep {
    return this.#elsewhere(cls, true, mayCarryOn) ?? this.#waitHere(cls, null);
  }

  /** The lane's CLI writes events that our reader doesn't know: try other lanes. The desk closes it if that goes on. */
  afterDrift(): NextStep {
    const elsewhere = this.#elsewhere('environment', false, false);
    if (elsewhere) return elsewhere;
    return this.stop('environment: the CLI writes events of an unknown form, and no other lane may take it');
  }

  afterPassing(cls: 'transient' | 'overloaded' | 'killed', mayCarryOn: boolean): NextStep {
    if (cls === 'killed' && isPoison(this.#history, this.#facts)) return this.#poisoned(cls);
    const before = countOf(this.#history, { lane: this.#facts.lane, class: cls });
    const here = retryLeft(cls, this.#history, this.#facts)
      ? this.#here(cls, backOffMs(before, this.#facts.random))
      : null;
    return here ?? this.#elsewhere(cls, false, mayCarryOn) ?? this.stop(`${cls}: its retries are used up`);
  }

  /** One repair in the session that gave the wrong form, where there is one: the work itself is done. */
  afterSchema(): NextStep {
    const here = retryLeft('schema', this.#history, this.#facts) ? this.#here('schema', 0, this.#resumable) : null;
    return here ?? this.#elsewhere('schema', false, false) ?? this.stop('schema: the repair did not validate either');
  }

  /**
   * Elsewhere once: a task that is too long for its wall clock is as long on the next lane, and each try costs the
   * whole of it.
   */
  afterStall(cls: 'timeout' | 'silence'): NextStep {
    if (cls === 'silence' && isPoison(this.#history, this.#facts)) return this.#poisoned(cls);
    const left = retryLeft(cls, this.#history, this.#facts);
    if (this.#bound) {
      const resumed = left ? this.#here(cls, 0) : null;
      return resumed ?? this.stop(`${cls}: it was resumed once or can't be`);
    }
    const first = this.#facts.attempts !== null || countOf(this.#history, { class: cls }) === 0;
    const again = first ? (this.#elsewhere(cls, false, false) ?? (left ? this.#here(cls, 0) : null)) : null;
    return again ?? this.stop(`${cls}: it was tried again once`);
  }

  afterModelGone(): NextStep {
    const { otherModel } = this.#facts;
    const here = otherModel === null ? null : this.#here('model_unavailable', 0);
    if (here?.kind === 'retry' && otherModel !== null)
      return { ...here, model: otherModel, why: `${here.why}, with ${otherModel}` };
    return (
      this.#elsewhere('model_unavailable', false, false) ??
      this.stop('model_unavailable: no other model or lane is left')
    );
  }

  afterInterruption(cls: 'interrupted' | 'lost', sessionSurvives: boolean): NextStep {
    if (isPoison(this.#history, this.#facts)) return this.#poisoned(cls);
    if (!interruptionLeft(this.#history, this.#facts)) return this.stop(`${cls}: its attempts are used up`);
    if (this.#boundHere && !sessionSurvives) return this.stop(`${cls}: no session to resume`);
    return {
      kind: 'retry',
      why: sessionSurvives ? `${cls}: its session goes on` : `${cls}: run again`,
      notBefore: this.#facts.now,
      resume: sessionSurvives,
    };
  }

  #poisoned(cls: string): NextStep {
    return {
      ...this.stop(
        `${cls}: ${VIOLENT_ENDS} of its attempts were ended from outside or went silent; what it does may be the cause`,
      ),
      poison: true,
    };
  }

  /** On this lane: its session where something may have been written, else as it began; null when neither may be. */
  #here(cls: string, delayMs: number, resume = this.#bound && this.#resumable): NextStep | null {
    if (this.#boundHere && !this.#resumable) return null;
    const again = this.#bound ? 'again here, as it began' : 'again here';
    const how = resume ? 'resume its session here' : again;
    return {
      kind: 'retry',
      why: `${cls}: ${how}${delayMs > 0 ? ` after ${(delayMs / 1000).toFixed(1)} s` : ''}`,
      notBefore: this.#facts.now + delayMs,
      resume,
    };
  }

  #elsewhere(cls: string, closeLane: boolean, mayCarryOn: boolean): NextStep | null {
    if (this.#others.length === 0 || (this.#bound && !mayCarryOn)) return null;
    return {
      kind: 'switch',
      why: `${cls}: to another lane (${this.#others.join(', ')})`,
      closeLane,
      continued: this.#touched,
    };
  }

  #waitHere(cls: string, until: number | null): NextStep {
    if (this.#boundHere && !this.#resumable)
      return this.stop(`${cls}: no other lane, and no session to resume when it opens`, true);
    const why =
      until === null ? `${cls}: wait until ${this.#facts.lane} is open again` : `${cls}: wait for the stated reset`;
    return { kind: 'wait', why, until, resume: this.#bound && this.#resumable, closeLane: true };
  }
}
