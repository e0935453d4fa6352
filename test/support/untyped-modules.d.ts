// What the tests use of the plain JavaScript of this repository.
declare module '*/scripts/folders.mjs' {
  export const FOLDERS: Record<string, { imports: string[]; node: boolean }>;
  export function tsconfigOf(folder: string): string;
  export function importsMap(): Record<string, unknown>;
}
declare module '*/scripts/suite/count.mjs' {
  type Count = { passed: number; failed: number; skipped: number };
  export function countOf(result: unknown, code: number): Count;
  export function lastLine(counts: Count[]): string;
}
declare module '*/scripts/setup/node-version.mjs' {
  export const NEEDED_NODE: string;
  export function nodeProblem(version?: string): string | null;
}
