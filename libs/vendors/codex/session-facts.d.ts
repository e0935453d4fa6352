/** What the CLI's own session file says of one turn, beyond its stdout. */
export type SessionFacts = {
    file: string;
    /** `codex_error_info` of the last `task_complete` since the attempt began; null when there is none. */
    error: unknown;
    cliVersion: string | null;
};
/**
 * Finds the session file of a thread under `<root>/YYYY/MM/DD` (newest day first; the day is the box's local date, and a
 * resumed thread keeps its old file) and reads the machine-readable kind of its failure.
 * @param root `$CODEX_HOME/sessions` @param since start of the attempt, ms: an older turn's error is not this one's
 * @returns null when there is no such file or it can't be read; never throws
 */
export declare function sessionFacts(root: string, thread: string, since: number): Promise<SessionFacts | null>;
