/** `@@PAD_LINE:n@@` → one valid tool-result line of n bytes: transcripts of that size do not lie in a file of vectors. */
export declare function expandPadLines(stdout: string): string;
