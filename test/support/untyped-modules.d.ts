// What the tests use of the plain JavaScript of this repository.
declare module '*/scripts/folders.mjs' {
  export const FOLDERS: Record<string, { imports: string[]; node: boolean }>;
  export function tsconfigOf(folder: string): string;
  export function importsMap(): Record<string, unknown>;
}
declare module '*/scripts/architecture.mjs' {
  export function withFolderTable(page: string, folders: Record<string, { imports: string[] }>): string;
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
declare module '*/scripts/bundles.mjs' {
  export function bundleCli(
    outdir: string,
  ): Promise<{ files: string[]; metafiles: { hot: import('esbuild').Metafile; cold: import('esbuild').Metafile } }>;
}
declare module '*/scripts/pack.mjs' {
  export function packedPackage(full: object): object;
}
declare module '*/scripts/reference.mjs' {
  export function referenceFiles(): Promise<Map<string, string>>;
}
declare module '*/scripts/real-clis.mjs' {
  export function presentClis(cache?: string): { codex: string; claude: string } | null;
}
declare module '*/scripts/try/lanes.mjs' {
  type Lane = { command: string; env: Record<string, string> };
  export function simulatedLane(id: 'codex' | 'claude', command: string, url: string, folder: string): Lane;
  export function standInLane(
    id: 'codex' | 'claude',
    command: string,
    folder: string,
    more?: Record<string, string>,
  ): Lane;
}
declare module '*/vendor-sim/lib/scenarios.mjs' {
  export const SCENARIOS: Record<string, string>;
}
declare module '*/vendor-sim/lib/server.mjs' {
  type Vendor = 'claude' | 'codex';
  type Scenario = { name: string; params?: Record<string, string> };
  export type LogEntry = {
    ts: string;
    event: 'request' | 'response';
    seq: number;
    vendor: string;
    path: string;
    scenario?: string;
    model?: string;
    status?: number;
  };
  export type Sim = {
    book: { set(scenario: Scenario & { vendor?: Vendor; times?: number }): void; reset(): void };
    quota: { set(patch: Partial<Record<Vendor, object>>): void; reset(): void };
    log: { entries: LogEntry[]; reset(): void };
    listen(port?: number): Promise<{ port: number; url: string }>;
    close(): Promise<void>;
  };
  export function createSim(options?: { scenario?: Scenario; quota?: object; log?: string; dump?: string }): Sim;
}
