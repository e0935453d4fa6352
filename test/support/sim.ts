import { createSim, type LogEntry, type Sim } from '../vendor-sim/lib/server.mjs';
import { simulatedLane } from '../../scripts/try/lanes.mjs';

/** The vendors' simulator inside the test's own process, and the lanes that lead a real CLI to it. */
export type TestSim = Sim & {
  url: string;
  /** The lane's member of the configuration file; its scratch home is made under `folder`. */
  lane(id: 'codex' | 'claude', command: string, folder: string): { command: string; env: Record<string, string> };
  /** Requests to a vendor's model since the last reset: how often, and for what, a CLI really called. */
  requests(vendor: 'codex' | 'claude'): LogEntry[];
};

export async function startSim(options: Parameters<typeof createSim>[0] = {}): Promise<TestSim> {
  const sim = createSim(options);
  const { url } = await sim.listen();
  return {
    ...sim,
    url,
    lane: (id, command, folder) => simulatedLane(id, command, url, folder),
    requests: (vendor) =>
      sim.log.entries.filter(
        (entry) => entry.event === 'request' && entry.vendor === vendor && /\/(responses|messages)$/.test(entry.path),
      ),
  };
}
