import type { LaneConfig } from '#contract';
import type { VendorAdapter } from './adapter.js';
import { claude } from './claude/index.js';
import { codex } from './codex/index.js';

const ADAPTERS: Record<LaneConfig['kind'], VendorAdapter> = { codex, claude };

export function adapterFor(kind: LaneConfig['kind']): VendorAdapter {
  return ADAPTERS[kind];
}

/** For a name from outside. */
export function adapterOf(kind: string): VendorAdapter | null {
  return kind === 'codex' || kind === 'claude' ? ADAPTERS[kind] : null;
}
