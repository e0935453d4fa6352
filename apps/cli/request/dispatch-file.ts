/**
 * A dispatch file: `DISPATCH`, lines `key: value`, `TASK`, and then the task to its end. Only the grammar stands here;
 * what a key may be is the flags' to say (header-values.ts).
 *
 *   start ──blank line──▶ start
 *     ├──DISPATCH──▶ header ──blank, key: value──▶ header
 *     │                 ├──TASK──▶ text
 *     │                 ├──any other line──▶ refused, and the next line is read all the same
 *     │                 └──end of the file──▶ refused: there is no TASK line
 *     └──any other line──▶ text: the whole file is the task
 *
 * In `text` nothing is read any more, so no word of a task can ever become a parameter: a task that quotes a dispatch
 * file, `full-access: true` and all, is only a task. And no header is lost to an editor's line ends: CRLF, a lone CR, a
 * byte order mark and blanks behind a word change nothing.
 */
export type HeaderLine = { key: string; value: string; line: number };

export type FileProblem = { line: number; seen: string; allowed: string };

export type DispatchFile =
  | {
      ok: true;
      header: HeaderLine[];
      /** Exactly as in the file, line ends included. */
      task: string;
      /** The line of a DISPATCH that is text because something stands before it: perhaps not what its writer meant. */
      lateHeader: number | null;
    }
  | { ok: false; problems: FileProblem[] };

const LINE = /([^\r\n]*)(\r\n|\r|\n|$)/y;
const UNSEEN = /[\s\p{Cf}]/u;
const PARAMETER = /^([A-Za-z][A-Za-z0-9_-]*)\s*:(.*)$/s;
/** A wrong file (a log, a picture) has thousands of wrong lines. */
const MOST_PROBLEMS = 20;
const ENDS = 'the header ends at a line TASK, and the task follows it';

export function readDispatchFile(text: string): DispatchFile {
  const header: HeaderLine[] = [];
  const problems: FileProblem[] = [];
  let inHeader = false;
  for (const { content, number, next } of linesOf(text)) {
    const said = bare(content);
    if (!inHeader) {
      if (said === '') continue;
      if (said.toUpperCase() !== 'DISPATCH') break;
      inHeader = true;
    } else if (said.toUpperCase() === 'TASK') {
      return problems.length > 0
        ? { ok: false, problems }
        : { ok: true, header, task: text.slice(next), lateHeader: null };
    } else if (said !== '') {
      const [, key, value] = PARAMETER.exec(said) ?? [];
      if (key !== undefined && value !== undefined)
        header.push({ key: key.toLowerCase(), value: value.trim(), line: number });
      else if (problems.length < MOST_PROBLEMS)
        problems.push({ line: number, seen: said, allowed: `a line key: value; ${ENDS}` });
    }
  }
  if (!inHeader) return { ok: true, header: [], task: text.replace(/^\uFEFF/, ''), lateHeader: lateHeaderOf(text) };
  return {
    ok: false,
    problems: [...problems, { line: header.at(-1)?.line ?? 1, seen: 'a header without an end', allowed: ENDS }],
  };
}

type Line = {
  content: string;
  /** From 1. */
  number: number;
  /** Where the next one begins. */
  next: number;
};

function* linesOf(text: string): Generator<Line> {
  LINE.lastIndex = 0;
  for (let number = 1, at = 0; at < text.length; number++) {
    LINE.lastIndex = at;
    const [whole = '', content = ''] = LINE.exec(text) ?? [];
    at += whole.length;
    yield { content, number, next: at };
  }
}

/** Without blanks, and marks that no one sees, at its ends. */
function bare(content: string): string {
  let [from, to] = [0, content.length];
  while (from < to && UNSEEN.test(content.charAt(from))) from++;
  while (to > from && UNSEEN.test(content.charAt(to - 1))) to--;
  return content.slice(from, to);
}

function lateHeaderOf(text: string): number | null {
  if (!/dispatch/i.test(text)) return null;
  for (const { content, number } of linesOf(text)) if (bare(content).toUpperCase() === 'DISPATCH') return number;
  return null;
}
