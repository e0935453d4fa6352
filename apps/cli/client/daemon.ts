import { join } from 'node:path';
import { CmoError, errorBody, ERRORS, PROTOCOL, VERSION, type ErrorBody } from '#contract';
import type { Paths } from '#config';
import { folderProblem } from '#config/own-folder';
import { outcomeOf, type Outcome } from './answer.js';
import { exchange, type Call } from './http.js';
import { clearTakenDown, isTakenDown } from './taken-down.js';

export type DaemonCall = Omit<Call, 'timeoutMs'> & {
  /** Beyond the time that the daemon was asked to take; default 30 s. */
  timeoutMs?: number;
  /**
   * `start`: if nothing runs, start it. `restart`: the same while a person waits, unless it was taken down on purpose.
   * `never`: only ask one that runs.
   */
  daemon: 'start' | 'restart' | 'never';
};

export type EnsureDaemon = () => Promise<{ ok: true } | { ok: false; error: ErrorBody }>;
/** How long a call goes on trying while the daemon or its Redis comes back, ms. */
const PATIENCE_MS = 60_000;
/**
 * The same for a call that somebody waits for to be taken, while the daemon answers that its Redis is away: a restart
 * is ridden out, no more.
 */
const REDIS_AWAY_MS = 5_000;
const MOST_PAUSE_MS = 1_000;
const REPLACED_MS = 20_000;

export class DaemonClient {
  private readonly paths: Paths;
  private readonly ensure: EnsureDaemon;
  private readonly patienceMs: number;
  private upgraded = false;

  constructor(paths: Paths, ensure: EnsureDaemon = () => startDaemon(paths), patienceMs = PATIENCE_MS) {
    this.paths = paths;
    this.ensure = ensure;
    this.patienceMs = patienceMs;
  }

  /**
   * Sends it until it is answered, for a bounded time. Sending again is harmless: a submit carries its own ids, and
   * everything else asks or repeats what is so already.
   */
  async call<T>(call: DaemonCall): Promise<Outcome<T>> {
    const { daemon, timeoutMs = 30_000, ...request } = call;
    let since: number | null = null;
    let last = errorBody('CMO_E_DAEMON');
    const patienceMs = (): number =>
      daemon === 'start' && last.code === 'CMO_E_REDIS' ? Math.min(this.patienceMs, REDIS_AWAY_MS) : this.patienceMs;
    for (let pause = 20; ; pause = Math.min(MOST_PAUSE_MS, pause * 2)) {
      this.trustSockets();
      const got = await exchange(this.paths.apiSocket, { ...request, timeoutMs });
      switch (got.kind) {
        case 'aborted':
          return { ok: false, error: errorBody('CMO_E_INTERRUPTED') };
        case 'answered': {
          if (got.protocol !== String(PROTOCOL)) {
            last = errorBody(
              'CMO_E_DAEMON',
              `the daemon is of another version (${got.version ?? 'unknown'}; this is ${VERSION})`,
              { fix: '`cmo down`, then `cmo up`' },
            );
            if (daemon === 'never' || this.upgraded) return { ok: false, error: last };
            await this.upgrade();
            break;
          }
          const outcome = outcomeOf<T>(got.body);
          if (outcome.ok || !outcome.again) {
            if (daemon === 'start' && got.version !== VERSION) await this.upgrade();
            return outcome;
          }
          last = outcome.error;
          break;
        }
        case 'absent': {
          if (daemon === 'never')
            return {
              ok: false,
              error: errorBody('CMO_E_DAEMON', 'the daemon does not run', { fix: '`cmo up` starts it' }),
            };
          if (daemon === 'restart' && isTakenDown(this.paths))
            return {
              ok: false,
              error: errorBody('CMO_E_DAEMON', 'the daemon was taken down; agents that ran go on', {
                fix: '`cmo up` brings it back',
              }),
            };
          const started = await this.start();
          if (!started.ok && (ERRORS[started.error.code].retry !== 'later' || daemon === 'start')) return started;
          if (!started.ok) last = started.error;
          break;
        }
        case 'broken':
          last = errorBody('CMO_E_DAEMON', `the connection to the daemon broke (${got.why})`);
          break;
        case 'timeout':
          last = errorBody('CMO_E_DAEMON', `the daemon did not answer within ${Math.round(timeoutMs / 1000)} s`);
          break;
      }
      // From the first failure: a poll may have waited for minutes before it broke.
      since ??= performance.now();
      if (performance.now() - since > patienceMs()) return { ok: false, error: last };
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  private async start(): Promise<{ ok: true } | { ok: false; error: ErrorBody }> {
    clearTakenDown(this.paths);
    return this.ensure();
  }

  /** Once a process, and its failure is not ours to report: what was asked is answered, or is asked again. */
  private async upgrade(): Promise<void> {
    if (this.upgraded) return;
    this.upgraded = true;
    await this.ensure();
  }

  /**
   * The short socket folder lies where others may write: a daemon of somebody else's there would be given our prompts.
   */
  private trustSockets(): void {
    const { sockets, state } = this.paths;
    if (sockets === join(state, 'sockets')) return;
    const problem = folderProblem(sockets);
    if (problem !== null && problem !== 'it does not exist')
      throw new CmoError(
        errorBody('CMO_E_STATE_FOLDER', `the socket folder ${sockets} can't be trusted: ${problem}`, {
          fix: 'remove it, or set CMO_STATE_DIR to a shorter path',
        }),
      );
  }
}

/** The configuration is read here only: a client of a daemon that runs needs none. */
async function startDaemon(paths: Paths): Promise<{ ok: true } | { ok: false; error: ErrorBody }> {
  const { configError, loadConfig } = await import('#config/load');
  const loaded = loadConfig();
  if (!loaded.ok) return { ok: false, error: configError(loaded.diagnostics) };
  const starter = await whenThere(() => import('#daemon/client'));
  if (starter === null)
    return {
      ok: false,
      error: errorBody(
        'CMO_E_DAEMON',
        'the files of cmo are gone, so no daemon can be started; agents that ran go on',
        { fix: 'install cmo again' },
      ),
    };
  const ensured = await starter.ensureDaemon(paths, loaded.config);
  return ensured.ok ? { ok: true } : ensured;
}

/**
 * A client that waits may outlive its package: while that is replaced, its files are away for a moment. Null: they stay
 * away.
 */
async function whenThere<T>(load: () => Promise<T>): Promise<T | null> {
  for (const until = performance.now() + REPLACED_MS; ;) {
    try {
      return await load();
    } catch (error) {
      // Not there, or there by half.
      const isAway = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND' || error instanceof SyntaxError;
      if (!isAway) throw error;
      if (performance.now() > until) return null;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
