import type { Command } from '../command.js';

export type Entry = { name: string; summary: string; group: string; load(): Promise<Command> };

const widen = (command: unknown): Command => command as Command;

/**
 * Every command. The modules are imported when called: 250 shims each start `cmo` once a night, and none should pay for
 * the others.
 */
export const COMMANDS: readonly Entry[] = [
  {
    name: 'run',
    group: 'work',
    summary: 'run one task and wait for its answer',
    load: async () => widen((await import('./run.js')).run),
  },
  {
    name: 'submit',
    group: 'work',
    summary: 'put one task into the queue and leave',
    load: async () => widen((await import('./submit.js')).submit),
  },
  {
    name: 'wait',
    group: 'work',
    summary: 'wait for dispatches',
    load: async () => widen((await import('./wait.js')).wait),
  },
  {
    name: 'result',
    group: 'work',
    summary: 'print the answer of a dispatch',
    load: async () => widen((await import('./result.js')).result),
  },
  {
    name: 'cancel',
    group: 'work',
    summary: 'end dispatches, and their agents with them',
    load: async () => widen((await import('./cancel.js')).cancel),
  },
  {
    name: 'retry',
    group: 'work',
    summary: 'run what has ended once more, as new dispatches',
    load: async () => widen((await import('./retry.js')).retry),
  },
  {
    name: 'pause',
    group: 'steer',
    summary: 'start nothing on a lane, or on any, until you resume it',
    load: async () => widen((await import('./pause.js')).pause),
  },
  {
    name: 'resume',
    group: 'steer',
    summary: 'end a pause, or all of them and the drain of this box',
    load: async () => widen((await import('./resume.js')).resume),
  },
  {
    name: 'drain',
    group: 'steer',
    summary: 'start nothing more on this box, and return when nothing runs on it',
    load: async () => widen((await import('./drain.js')).drain),
  },
  {
    name: 'slots',
    group: 'steer',
    summary: 'how many agents run at once, changed while they run',
    load: async () => widen((await import('./slots.js')).slots),
  },
  {
    name: 'limits',
    group: 'look',
    summary: 'what is left of each window',
    load: async () => widen((await import('./limits.js')).limits),
  },
  {
    name: 'guard',
    group: 'look',
    summary: 'exit 0 while there is room, 3 when there is none, for scripts',
    load: async () => widen((await import('./guard.js')).guard),
  },
  {
    name: 'plan',
    group: 'look',
    summary: 'where a task would run, and why; starts nothing',
    load: async () => widen((await import('./plan.js')).plan),
  },
  {
    name: 'ls',
    group: 'look',
    summary: 'list dispatches, newest first',
    load: async () => widen((await import('./ls.js')).ls),
  },
  {
    name: 'show',
    group: 'look',
    summary: 'one dispatch: its decision, attempts and reasons',
    load: async () => widen((await import('./show.js')).show),
  },
  {
    name: 'logs',
    group: 'look',
    summary: 'what an agent does or did, event by event, or the daemon’s own log',
    load: async () => widen((await import('./logs.js')).logs),
  },
  {
    name: 'status',
    group: 'look',
    summary: 'the daemon, its Redis, lanes and windows',
    load: async () => widen((await import('./status.js')).status),
  },
  {
    name: 'doctor',
    group: 'look',
    summary: 'check that this box is set up, and say what is missing',
    load: async () => widen((await import('./doctor.js')).doctor),
  },
  {
    name: 'explain',
    group: 'look',
    summary: 'what cmo makes of an input, offline',
    load: async () => widen((await import('./explain.js')).explain),
  },
  {
    name: 'replay',
    group: 'look',
    summary: 'decide again from the facts of a receipt; starts nothing',
    load: async () => widen((await import('./replay.js')).replay),
  },
  {
    name: 'selftest',
    group: 'look',
    summary: 'where typical work would run, and whether cmo itself works; offline',
    load: async () => widen((await import('./selftest.js')).selftest),
  },
  {
    name: 'gc',
    group: 'set up',
    summary: 'remove what is past its retention: records, receipts, run folders, texts',
    load: async () => widen((await import('./gc.js')).gc),
  },
  {
    name: 'config',
    group: 'set up',
    summary: 'show and check the configuration',
    load: async () => widen((await import('./config.js')).config),
  },
  {
    name: 'up',
    group: 'set up',
    summary: 'start the daemon now (run and submit do it by themselves)',
    load: async () => widen((await import('./up.js')).up),
  },
  {
    name: 'down',
    group: 'set up',
    summary: 'stop daemon and Redis; agents go on and are adopted',
    load: async () => widen((await import('./down.js')).down),
  },
  {
    name: 'service',
    group: 'set up',
    summary: 'have the box run the daemon, so that queued work goes on after a reboot',
    load: async () => widen((await import('./service.js')).service),
  },
  {
    name: 'help',
    group: 'set up',
    summary: 'help on a command, exit-codes or environment',
    load: async () => widen((await import('./help.js')).help),
  },
];
