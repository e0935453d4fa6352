import type { LaneConfig } from '#contract';
import type { VendorAdapter } from './adapter.js';
export declare function adapterFor(kind: LaneConfig['kind']): VendorAdapter;
/** For a name from outside. */
export declare function adapterOf(kind: string): VendorAdapter | null;
