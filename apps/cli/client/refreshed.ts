import type { Context } from '../command.js';

/** Where one of them asks for it, the vendors are asked what is left before anything is decided. */
export async function refreshed(tasks: readonly { refresh?: true }[], context: Context): Promise<void> {
  if (!tasks.some(({ refresh }) => refresh)) return;
  const { limitsAsked } = await import('./limits.js');
  await limitsAsked(context);
}
