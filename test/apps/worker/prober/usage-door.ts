import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startSim, type TestSim } from '../../../support/sim.js';

/**
 * The simulator behind a door that can be shut: what is asked of the usage endpoint is counted here, and answered with
 * an error while a test wants one, else by the simulator.
 */
export type UsageDoor = {
  url: string;
  sim: TestSim;
  calls: { at: number; authorization: string }[];
  /** Null: the simulator answers. */
  answer: { status: number; headers?: Record<string, string>; body?: string } | null;
  /** Awaited before each answer. */
  before: () => Promise<void>;
  close(): Promise<void>;
};

export async function openDoor(options: Parameters<typeof startSim>[0] = {}): Promise<UsageDoor> {
  const sim = await startSim(options);
  const server = createServer((request, response) => {
    void (async () => {
      door.calls.push({ at: Date.now(), authorization: request.headers.authorization ?? '' });
      await door.before();
      if (door.answer) {
        response
          .writeHead(door.answer.status, { 'content-type': 'application/json', ...door.answer.headers })
          .end(door.answer.body ?? '{}');
        return;
      }
      const answer = await fetch(new URL(request.url ?? '/', sim.url), { headers: plain(request.headers) });
      response
        .writeHead(answer.status, { 'content-type': 'application/json', date: new Date().toUTCString() })
        .end(await answer.text());
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const door: UsageDoor = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sim,
    calls: [],
    answer: null,
    before: () => Promise.resolve(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await sim.close();
    },
  };
  return door;
}

function plain({ authorization = '', 'anthropic-beta': beta }: IncomingHttpHeaders): Record<string, string> {
  return { authorization, 'anthropic-beta': Array.isArray(beta) ? beta.join(',') : (beta ?? '') };
}
