import { PROTOCOL, VERSION, type LaneConfig, type LaneStatus, type StatusData } from '#contract';
import { pauseOf, type AccountSnapshot } from '#gate';
import type { FastifyInstance } from 'fastify';
import { endpointOf } from '#vendors';
import { answered } from '../answers.js';
import type { ApiResources } from '../resources.js';

/** GET /v1/status: the daemon, its Redis, what waits and runs, and each lane's windows. */
export function statusRoute(
  app: FastifyInstance,
  { config, records, gate, daemon, installed, controls }: ApiResources,
): void {
  app.get('/v1/status', async () => {
    const accounts = [...new Set(config.lanes.map((lane) => lane.account))];
    const [about, control, counts, here, snapshots] = await Promise.all([
      daemon.about(),
      controls.read(),
      records.counts(),
      installed(undefined),
      Promise.all(accounts.map((account) => gate.snapshot(account))),
    ]);
    const lanes = config.lanes.flatMap((lane) => {
      const snapshot = snapshots.find(({ account }) => account === lane.account);
      return snapshot ? [laneStatus(lane, snapshot, Object.hasOwn(here, lane.id) && here[lane.id] === true)] : [];
    });
    const data: StatusData = {
      version: VERSION,
      protocol: PROTOCOL,
      node: config.nodeId,
      ...about,
      counts,
      lanes,
      control,
    };
    return answered('cmo.status/1', data);
  });
}

function laneStatus(lane: LaneConfig, snapshot: AccountSnapshot, installed: boolean): LaneStatus {
  const iso = (ms: number): string => new Date(ms).toISOString();
  return {
    id: lane.id,
    vendor: lane.vendor,
    account: lane.account,
    command: lane.command,
    installed,
    endpoint: endpointOf(lane)?.host ?? null,
    inFlight: snapshot.inFlight,
    closed: snapshot.closed && { until: iso(snapshot.closed.until), reason: snapshot.closed.reason },
    paused: pauseOf(snapshot, lane.id) !== null,
    reading: snapshot.reading && { source: snapshot.reading.source, writtenAt: iso(snapshot.reading.writtenAt) },
    windows: snapshot.windows.map(({ id, kind, usedPercent, reserved, settling, estimated, effective, resetsAt }) => ({
      id,
      kind,
      usedPercent,
      reserved,
      settling,
      estimated,
      effective,
      resetsAt: resetsAt === null ? null : iso(resetsAt),
    })),
  };
}
