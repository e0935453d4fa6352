/**
 * Where a value came from, the later outranking the earlier: defaults, what the box says, the file, the environment.
 */
export type Origin =
  | { from: 'default' }
  | { from: 'box'; what: string }
  | { from: 'file'; file: string; key: string; line: number | null }
  | { from: 'environment'; variable: string };

/** By the path of the effective value, as `cmo config show` prints it (`lanes.codex.models.fast.model`). */
export type Origins = ReadonlyMap<string, Origin>;

export function describeOrigin(origin: Origin): string {
  switch (origin.from) {
    case 'default':
      return 'default';
    case 'box':
      return `this box (${origin.what})`;
    case 'file':
      return `${origin.file}${origin.line === null ? '' : `:${origin.line}`} ${origin.key}`;
    case 'environment':
      return origin.variable;
  }
}
