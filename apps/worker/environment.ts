import type { Access, DispatchRecord, LaneConfig } from '#contract';
import { ANY_NODE, type StoredText } from '#store';
import { adapterFor, captureEnvironment, childEnvironment } from '#vendors';
import type { Resources } from './resources.js';

export type Environment = Record<string, string>;

/** The submitter's own environment, as it was captured; kept in Redis only. */
export async function submittedEnvironment({ records }: Pick<Resources, 'records'>, id: string): Promise<Environment> {
  return parseEnvironment(await records.text(id, 'env'));
}

/** One that is not kept any more is empty. */
export function parseEnvironment(stored: StoredText | null): Environment {
  return stored === null ? {} : (JSON.parse(stored.text) as Environment);
}

/**
 * The environment that an attempt of this record gets here. Work for any node has its sender's toolchain on its
 * sender's node; elsewhere those paths mean nothing, so it has this node's own, with what was sent besides.
 */
export async function environmentHere(
  resources: Pick<Resources, 'records' | 'node' | 'environment'>,
  record: Pick<DispatchRecord, 'id' | 'home' | 'request'>,
): Promise<Environment> {
  return environmentFrom(resources, record, await submittedEnvironment(resources, record.id));
}

/** @param submitted as it was captured */
export function environmentFrom(
  { node, environment }: Pick<Resources, 'node' | 'environment'>,
  record: Pick<DispatchRecord, 'home' | 'request'>,
  submitted: Environment,
): Environment {
  if (record.home !== ANY_NODE || record.request.origin === node) return submitted;
  const theirs = captureEnvironment(submitted, { names: [], values: {} }).env;
  const besides = Object.fromEntries(Object.entries(submitted).filter(([name]) => !Object.hasOwn(theirs, name)));
  return { ...besides, ...captureEnvironment(environment, { names: [], values: {} }).env };
}

/** The whole environment of the attempt's CLI. What was captured for another lane's passEnv stays out of this one. */
export function environmentOf(
  { config }: Pick<Resources, 'config'>,
  submitted: Environment,
  lane: LaneConfig,
  attempt: string,
  access: Access,
): Environment {
  const root = process.getuid?.() === 0;
  const others = config.lanes.filter(({ id }) => id !== lane.id).flatMap(({ passEnv }) => passEnv);
  const named = Object.keys(submitted).filter((name) => !others.includes(name));
  return childEnvironment({
    submitted,
    lane,
    adapterEnv: adapterFor(lane.kind).envFor({ access, root }),
    mark: attempt,
    named,
  });
}
