import { setTimeout as delay } from 'node:timers/promises';
import { ask } from './ask.js';

/**
 * What listens at a unix socket. `loading`: a Redis that reads its file and will answer soon; `silent`: something that
 * accepts connections and does not answer as Redis (stopped, overloaded, or another program); `absent`: no socket file,
 * or no process behind it.
 */
export type Presence = 'answers' | 'loading' | 'silent' | 'absent';

export async function probe(socket: string, timeoutMs?: number): Promise<Presence> {
  const reply = await ask(socket, ['PING'], timeoutMs);
  switch (reply.kind) {
    case 'reply':
      return reply.text === 'PONG' ? 'answers' : 'silent';
    case 'error':
      return /^(LOADING|BUSY|MASTERDOWN)/.test(reply.text) ? 'loading' : 'silent';
    case 'silent':
    case 'absent':
      return reply.kind;
  }
}

export type Patience = {
  /** A socket that is absent or silent gets this long, ms. */
  quietMs: number;
  /** One that says it is loading gets this long, ms: reading a large file takes minutes. */
  loadingMs: number;
  /** Checked between looks; true ends the wait. */
  over?: () => boolean;
};

/** Asks again and again until it answers or patience ends. */
export async function answersWithin(
  socket: string,
  { quietMs, loadingMs, over = () => false }: Patience,
): Promise<boolean> {
  const started = performance.now();
  for (let pause = 10; ; pause = Math.min(pause * 2, 200)) {
    const presence = await probe(socket);
    if (presence === 'answers') return true;
    const waited = performance.now() - started;
    if (over() || waited > (presence === 'loading' ? loadingMs : quietMs)) return false;
    await delay(pause);
  }
}

/** The pid that a server says it has; null when it does not say. */
export async function serverPid(socket: string): Promise<number | null> {
  const reply = await ask(socket, ['INFO', 'server']);
  const pid = reply.kind === 'reply' ? /^process_id:([0-9]+)\r?$/m.exec(reply.text)?.[1] : undefined;
  return pid === undefined ? null : Number(pid);
}
