import type { DecisionFactors, Task } from '#contract';

/**
 * The task with the documented defaults filled in: implement, complexity 3, length m. Itself a task again, for the
 * replay.
 */
export function factorsOf(task: Task): DecisionFactors {
  return {
    role: task.role ?? 'implement',
    complexity: task.complexity ?? 3,
    length: task.length ?? 'm',
    contextTokens: task.contextTokens ?? 0,
    needsSchema: task.needsSchema ?? false,
    needsRepoWrite: task.needsRepoWrite ?? false,
    independentOf: task.independentOf ?? null,
    strictIndependence: task.strictIndependence ?? false,
    pin: task.pin ?? null,
    pinModel: task.pinModel ?? null,
    ...(task.pinModelLane === undefined ? {} : { pinModelLane: task.pinModelLane }),
    ...(task.modelsOut === undefined ? {} : { modelsOut: [...task.modelsOut] }),
    ...(task.lanesOut === undefined ? {} : { lanesOut: [...task.lanesOut] }),
    ...(task.schemaRefusedBy === undefined ? {} : { schemaRefusedBy: [...task.schemaRefusedBy] }),
  };
}
