import type { Usage } from '#contract';
import type { Channel } from '#policy/failure/index';
import type { ExitFacts, RunProgress, StreamSignal } from './adapter.js';
import type { JsonObject } from './json.js';

/** What the events of one run amount to. */
export type Folded = {
  terminal: 'completed' | 'failed' | null;
  text: string | null;
  /** Absent: the CLI gave no value of its own. */
  structured?: unknown;
  usage: Usage;
  /** Last text of the agent, for people, when it does not become the answer. */
  partial: string | null;
  channel: Channel;
  toolCalls: number;
  /** Some tool ran, or was about to. */
  acted: boolean;
  /** The agent had begun to answer or act. */
  spoke: boolean;
  sandboxBroken: boolean;
  foreignBilling: string | null;
};

/** Adds up the events of one CLI. */
export interface EventFold {
  /** @returns null when the form is unknown */
  event(event: JsonObject): StreamSignal[] | null;
  folded(exit: ExitFacts): Folded;
  progress(): RunProgress;
}

/** Partials are for people: the end of a long one says most. */
export const PARTIAL_MAX = 200_000;

export function partialOf(text: string): string | null {
  return text.trim() === '' ? null : text.slice(-PARTIAL_MAX);
}

const TOOL_NAMES_MAX = 50;
const OPEN_MAX = 1000;

/** Which tools a run called, and which of them have not come back yet. Bounded, whatever a stream invents. */
export class ToolBook {
  calls = 0;
  acted = false;
  private readonly open = new Set<string>();
  private readonly ignored = new Set<string>();
  private readonly names = new Map<string, number>();
  private readonly harmless: readonly string[];

  /** @param harmless tools that only hand over an answer: calling them is no act */
  constructor(harmless: readonly string[] = []) {
    this.harmless = harmless;
  }

  /** The stream says that a call is being written: it may run before its own event comes. */
  announced(name: string | null): void {
    if (name === null || !this.harmless.includes(name)) this.acted = true;
  }

  started(id: string | null, name: string): void {
    if (this.harmless.includes(name)) {
      if (id !== null && this.ignored.size < OPEN_MAX) this.ignored.add(id);
      return;
    }
    this.acted = true;
    if (id !== null && this.open.has(id)) return;
    this.calls += 1;
    if (id !== null && this.open.size < OPEN_MAX) this.open.add(id);
    if (this.names.has(name) || this.names.size < TOOL_NAMES_MAX) this.names.set(name, (this.names.get(name) ?? 0) + 1);
  }

  finished(id: string | null): void {
    if (id !== null && this.ignored.has(id)) return;
    this.acted = true;
    if (id !== null) this.open.delete(id);
  }

  isOpen(id: string): boolean {
    return this.open.has(id);
  }

  counts(): Pick<RunProgress, 'tools' | 'toolsRunning'> {
    return { tools: Object.fromEntries(this.names), toolsRunning: this.open.size };
  }
}
