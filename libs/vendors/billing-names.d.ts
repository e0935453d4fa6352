export declare function isBillingName(name: string): boolean;
/** For tests and docs: the exact names; prefixes and endings catch more. */
export declare const BILLING_NAMES: readonly string[];
