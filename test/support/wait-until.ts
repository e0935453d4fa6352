export type WaitOptions = {
  /** Milliseconds; a bound against hanging, never an expectation of speed. */
  timeoutMs?: number;
  everyMs?: number;
  /** What is waited for, in words, for the message of the failure. */
  what?: string;
};

/** Looks until `look` gives something truthy and returns that; throws, with the last thing seen, when time runs out. */
export async function waitUntil<T>(look: () => T | Promise<T>, options: WaitOptions = {}): Promise<NonNullable<T>> {
  const { timeoutMs = 45_000, everyMs = 20, what = 'the condition' } = options;
  const until = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (performance.now() > until)
      throw new Error(`gave up after ${timeoutMs} ms waiting for ${what}; last seen: ${describe(seen)}`);
    await sleep(everyMs);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function describe(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
}
