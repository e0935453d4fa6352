import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FlowBox } from '../flows/flow-box.js';
import { keys } from '#store';
import type { Redis } from 'ioredis';

/**
 * Moments of a dispatch's way, seen from outside, as they happen: the program has no hooks for its tests. Each lasts
 * for milliseconds, so it is looked for without a pause, and what is struck then is struck a random moment later.
 */
export const MOMENTS = [
  'a folder without a claim',
  'a claim without run.json',
  'an agent at work',
  'an exit record without a receipt',
  'a receipt that is not delivered',
  'a wait for a retry',
  'no moment in particular',
] as const;
export type Moment = (typeof MOMENTS)[number];

const MOST_MS = 900;

/** @returns whether it was met; when it doesn't come, any moment will do */
export async function meet(box: FlowBox, redis: Redis, moment: Moment): Promise<boolean> {
  const until = performance.now() + MOST_MS;
  while (performance.now() < until) {
    if (moment === 'no moment in particular') return true;
    if (moment === 'a wait for a retry') {
      if (redis.status === 'ready' && (await redis.zcard(keys.state('retrying'))) > 0) return true;
    } else if (folders(box).some((folder) => isAt(folder, moment))) return true;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return false;
}

function folders({ paths }: FlowBox): string[] {
  try {
    return readdirSync(paths.runs)
      .filter((name) => name.startsWith('d-'))
      .map((name) => join(paths.runs, name));
  } catch {
    return [];
  }
}

function isAt(folder: string, moment: Moment): boolean {
  const has = (name: string): boolean => existsSync(join(folder, name));
  switch (moment) {
    case 'a folder without a claim':
      return !has('claim') && has('prompt');
    case 'a claim without run.json':
      return has('claim') && !has('run.json');
    case 'an agent at work':
      return has('run.json') && !has('exit.json');
    case 'an exit record without a receipt':
      return has('exit.json') && !has('receipt.json');
    case 'a receipt that is not delivered':
      return has('receipt.json') && !has('delivered');
    default:
      return false;
  }
}
