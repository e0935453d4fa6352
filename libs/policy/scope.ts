const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-');

/**
 * Whether a window scoped to a model family (`opus`, `Fable`) binds this model (`opus`, `claude-opus-4-5`, `opus[1m]`).
 * Containment on purpose: counting a window that does not bind costs a detour, missing one that does overshoots it.
 */
export function inScope(scope: string, model: string): boolean {
  return plain(model).includes(plain(scope));
}
