import type { LaneConfig } from '#contract';
export type Refused = {
    name: string;
    why: string;
};
export type Captured = {
    env: Record<string, string>;
    refused: Refused[];
};
/** What a person asks for besides the allow-list: names to take from their shell, values given outright. */
export type EnvExtra = {
    names: string[];
    values: Record<string, string>;
};
/**
 * The submitter's environment, reduced. `refused` has the names asked for that do not pass, each with the reason; what
 * merely is not on the list is left out without a word.
 */
export declare function captureEnvironment(source: Record<string, string | undefined>, extra: EnvExtra): Captured;
export type ChildInput = {
    /** As captured at submit. */
    submitted: Record<string, string>;
    lane: Pick<LaneConfig, 'env' | 'passEnv'>;
    /** The adapter's variables for this run (`envFor`). */
    adapterEnv: Record<string, string>;
    /** `<dispatch>.<n>`, the value of CMO_ATTEMPT. */
    mark: string;
    /** Names that the request asked for; with it, a name that another lane's passEnv brought along stays out. Absent: all that was submitted passes. */
    named?: readonly string[];
    /** `C.UTF-8` where the box has it (`chooseLocale`). */
    locale?: string;
};
/**
 * The whole environment of one child: what was submitted, the adapter's variables, the lane's own, and ours last. Checked
 * once more for names of another billing path: what was submitted came over a socket.
 */
export declare function childEnvironment({ submitted, lane, adapterEnv, mark, named, locale }: ChildInput): Record<string, string>;
/** @param available what `locale -a` lists */
export declare function chooseLocale(available: readonly string[]): string;
