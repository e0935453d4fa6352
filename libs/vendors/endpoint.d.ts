import type { LaneConfig } from '#contract';
export type Endpoint = {
    /** Host with its port, or `api key` when only a key or token is set. Never the key. */
    host: string;
    loopback: boolean;
    /** Why the lane may not run like this, null when it may. */
    error: string | null;
};
/** Where `lanes.<id>.env` points a CLI, null when it leaves it with the subscription. */
export declare function endpointOf(lane: Pick<LaneConfig, 'id' | 'env' | 'allowEndpoint'>): Endpoint | null;
