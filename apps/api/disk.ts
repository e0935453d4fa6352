import { errorBody, type ErrorBody } from '#contract';

/** Free bytes under the state folder, and how many new work has to leave. */
export type Disk = { free: number; floor: number };

/** New work is refused while there is less: agents that run go on, and have room for what they come to. */
export function diskError({ free, floor }: Disk): ErrorBody | null {
  if (free >= floor) return null;
  return errorBody(
    'CMO_E_DISK',
    `the disk of the state folder has ${megabytes(free)} MB left, and new work is taken from ${megabytes(floor)} MB on`,
  );
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / 1024 / 1024);
}
