import { policyConfig, type Chosen, type DispatchRecord, type LaneConfig, type LanesFacts } from '#contract';
import { confirm, decide } from '#policy';
import { findExecutable } from '#runner';
import type { Next } from '#queue';
import { lanesOut } from './left-lanes.js';
import { placement, rerouted } from './placement.js';
import type { Resources } from './resources.js';
import { taskOfRecord } from './task-of.js';

/** Which lanes have their CLI on the submitter's PATH. */
export function installedLanes({ config }: Pick<Resources, 'config'>, path: string): Record<string, boolean> {
  return Object.fromEntries(config.lanes.map((lane) => [lane.id, findExecutable(lane.command, path) !== null]));
}

export type Confirmed = { kind: 'run'; decision: Chosen; changed: boolean } | { kind: 'move'; next: Next; why: string };

/**
 * At the start a decision is only confirmed. The gate has just admitted this lane for this ticket, so its own percent
 * says nothing here (it holds the ticket's own reservation); what can speak against it is a CLI that is gone, or a
 * producer that turns out to be of its vendor.
 */
export async function confirmLane(
  resources: Pick<Resources, 'gate' | 'config' | 'clock'>,
  record: DispatchRecord,
  lane: LaneConfig,
  path: string,
): Promise<Confirmed> {
  const { gate, config, clock } = resources;
  const installed = installedLanes(resources, path);
  const others: LanesFacts = await gate.facts(
    config.lanes.filter((other) => other.id !== lane.id),
    installed,
  );
  const facts: LanesFacts = { ...others, [lane.id]: { available: false, installed: installed[lane.id] ?? false } };
  const policy = policyConfig(config);
  const task = taskOfRecord(record, { lanesOut: await lanesOut(resources, record) });
  const confirmation = confirm(record.decision, task, facts, policy);
  if (confirmation.kind === 'keep' && record.decision.ok)
    return { kind: 'run', decision: record.decision, changed: false };
  const decision = decide(task, facts, policy);
  if (decision.ok && decision.lane === lane.id) return { kind: 'run', decision, changed: true };
  const why = confirmation.kind === 'again' ? confirmation.why : 'no lane was chosen yet';
  const next = placement({ record, decision, event: 'rerouted', config, now: clock() });
  const code = confirmation.kind === 'again' ? confirmation.code : 'deferred';
  return { kind: 'move', next: rerouted(next, record, { from: lane.id, why: code, event: null }), why };
}
