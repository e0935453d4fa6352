import type { Redis } from 'ioredis';
import { operations as gate } from '#gate/lua';
import { monitorCommands } from '../../support/monitor.js';
import { sleep, waitUntil } from '../../support/wait-until.js';

/** The commands that clients send to a Redis, by MONITOR; those that scripts run inside are left out. */
export type Overheard = {
  /**
   * Calls of BullMQ's fetch, of the gate's reserve, of BullMQ's
   * look for stalled tickets, and all that is none of these.
   */
  fetches(): number;
  reserves(lane: string): number;
  others(): string[][];
  /** How many commands there were in all, but for the marks of `settle`. */
  all(): number;
  /** Forgets what was heard so far. */
  clear(): Promise<void>;
  /** Everything sent before this has been heard when it resolves. */
  settle(): Promise<void>;
  close(): void;
};

export async function overhear(redis: Redis): Promise<Overheard> {
  const heard: string[][] = [];
  const monitor = await monitorCommands(redis, (args) => heard.push(args));
  let marks = 0;
  const settle = async (): Promise<void> => {
    marks += 1;
    const mark = `mark-${marks}`;
    await redis.echo(mark);
    await waitUntil(() => heard.some((args) => args[1] === mark));
  };
  return {
    fetches: () => heard.filter(isFetch).length,
    reserves: (lane) => heard.filter((args) => isReserve(args) && args.at(-1)?.includes(`"lane":"${lane}"`)).length,
    others: () =>
      heard.filter(
        (args) => !isFetch(args) && !isReserve(args) && !isStalledCheck(args) && args[0]?.toLowerCase() !== 'echo',
      ),
    all: () => heard.filter(([name]) => name?.toLowerCase() !== 'echo').length,
    async clear() {
      await settle();
      heard.length = 0;
    },
    settle,
    close: () => monitor.close(),
  };
}

const isReserve = ([command, sha]: string[]): boolean =>
  command?.toLowerCase() === 'evalsha' && sha === gate.reserve.sha;

/** moveToActive of BullMQ 6.7.0: eleven keys, wait, active and prioritized first. */
const isFetch = ([command, , count, , active, prioritized]: string[]): boolean =>
  isScript(command) &&
  count === '11' &&
  (active?.endsWith(':active') ?? false) &&
  (prioritized?.endsWith(':prioritized') ?? false);

const isStalledCheck = (args: string[]): boolean =>
  isScript(args[0]) && args.some((arg) => arg.endsWith(':stalled-check'));

function isScript(command: string | undefined): boolean {
  return command !== undefined && ['evalsha', 'eval'].includes(command.toLowerCase());
}

/** Until `look` holds, without any bound on how long it takes but the test's own. */
export async function soon(look: () => boolean | Promise<boolean>, what: string): Promise<void> {
  await waitUntil(look, { what, everyMs: 10 });
}

export { sleep };
