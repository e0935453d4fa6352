const MARK = /@@PAD_LINE:(\d{1,9})@@/g;
const PAD_MAX = 100_000_000;

/**
 * `@@PAD_LINE:n@@` → one valid tool-result line of n bytes: transcripts of that size do not lie in a file of vectors.
 */
export function expandPadLines(stdout: string): string {
  return stdout.replace(MARK, (_, size: string) => padLine(Math.min(Number(size), PAD_MAX)));
}

function padLine(bytes: number): string {
  const line = (filler: string) =>
    JSON.stringify({
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'pad', content: filler }] },
    });
  return line('x'.repeat(Math.max(0, bytes - line('').length)));
}
