import type { DispatchRecord, PastFailure, Task } from '#contract';

/**
 * The record's request as the policy reads it, with what this dispatch has learnt: models that don't exist, lanes it
 * left.
 */
export function taskOfRecord(record: DispatchRecord, more: { lanesOut?: string[]; modelsOut?: string[] } = {}): Task {
  const {
    role,
    complexity,
    length,
    contextTokens,
    write,
    independentOf,
    strictIndependence,
    pin,
    model,
    hasSchema,
    schemaRefusedBy,
  } = record.request;
  const task: Task = {
    needsSchema: hasSchema,
    needsRepoWrite: write ?? false,
    strictIndependence: strictIndependence ?? false,
  };
  if (role !== undefined) task.role = role;
  if (complexity !== undefined) task.complexity = complexity;
  if (length !== undefined) task.length = length;
  if (contextTokens !== undefined) task.contextTokens = contextTokens;
  if (schemaRefusedBy !== undefined) task.schemaRefusedBy = schemaRefusedBy;
  if (independentOf !== undefined) task.independentOf = independentOf;
  if (pin !== undefined) task.pin = pin;
  if (model !== undefined) {
    task.pinModel = model;
    // A model named by a person belongs to the lane it was first put on; a lane taken later runs its own tier's.
    const first =
      record.decision.factors.pinModelLane ??
      record.history[0]?.lane ??
      (record.decision.ok ? record.decision.lane : undefined);
    if (first !== undefined) task.pinModelLane = first;
  }
  const gone = record.history
    .filter((past) => past.class === 'model_unavailable')
    .map((past) => `${past.lane}/${past.model}`);
  const modelsOut = [...gone, ...(more.modelsOut ?? [])];
  if (modelsOut.length > 0) task.modelsOut = modelsOut;
  if (more.lanesOut && more.lanesOut.length > 0) task.lanesOut = more.lanesOut;
  return task;
}

/** The earlier failures of a dispatch as nextStep counts them. */
export function pastFailures(record: DispatchRecord): PastFailure[] {
  return record.history.flatMap((past): PastFailure[] => {
    if (past.outcome === 'interrupted' || past.outcome === 'lost')
      return [{ lane: past.lane, class: past.outcome, model: past.model }];
    return past.class === null ? [] : [{ lane: past.lane, class: past.class, model: past.model }];
  });
}
