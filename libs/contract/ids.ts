/**
 * Identifiers: `d-` + ULID for a dispatch, `<dispatch>.<n>` for an attempt, `<dispatch>-<n>` for its ticket (BullMQ
 * forbids `:` in job ids). A ULID sorts by time, so a listing needs no other index.
 */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** @param now milliseconds; @param random 16 bytes or more, of which 16 are used */
export function dispatchId(now: number, random: Uint8Array): string {
  let time = '';
  for (let left = Math.floor(now), i = 0; i < 10; i++) {
    time = ALPHABET.charAt(left % 32) + time;
    left = Math.floor(left / 32);
  }
  let tail = '';
  for (let i = 0; i < 16; i++) tail += ALPHABET.charAt((random[i] ?? 0) % 32);
  return `d-${time}${tail}`;
}

/** Used in a Redis key, on command lines and in file names. */
export const BATCH_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const DISPATCH_ID = /^d-[0-9A-HJKMNP-TV-Z]{26}$/;

export function attemptId(dispatch: string, attempt: number): string {
  return `${dispatch}.${attempt}`;
}

export function ticketId(dispatch: string, attempt: number): string {
  return `${dispatch}-${attempt}`;
}

export function parseAttemptId(id: string): { dispatch: string; attempt: number } | undefined {
  const match = /^(d-[0-9A-HJKMNP-TV-Z]{26})\.([1-9][0-9]{0,5})$/.exec(id);
  return match?.[1] && match[2] ? { dispatch: match[1], attempt: Number(match[2]) } : undefined;
}
