import { type FailureClass, type Usage } from '#contract';
import { type FirstStep } from '#policy/failure/index';
export type ExplainedFailure = {
    class: FailureClass | 'ok';
    action: FirstStep;
    resetsAt?: string | null;
    words?: string;
} | {
    error: string;
};
export type ExplainedTranscript = {
    ok: boolean;
    text: string | null;
    structured?: unknown;
    usage: Usage;
    errorClass: FailureClass | null;
    resetsAt?: string | null;
    words?: string;
    partial?: string;
    session: string | null;
    toolCalls: number;
} | {
    error: string;
};
/** What is left of a run (`input` of test/vectors/failures.json) → its class and first step. Reads no clock, zone or file. */
export declare function explainFailure(input: unknown): Promise<ExplainedFailure>;
/** The same, with what the reader makes of the content (`input` of test/vectors/transcripts.json; pads already expanded). */
export declare function explainTranscript(input: unknown): Promise<ExplainedTranscript>;
