import { nearestText } from '#contract';
import type { Path, Problem } from './shape.js';

/** All that is wrong, by where it was said. A source without problems is not in it. */
export type Diagnostics = { source: string; problems: Problem[] }[];

/** `lanes.codex.env["a b"]`, `readCommands[2]` */
export function pathText(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w$-]{1,40}$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step.length > 40 ? `${step.slice(0, 37)}...` : step)}]`;
  }
  return text;
}

export function problemText({ path, seen, expected, nearest, line }: Problem): string {
  const where = [path.length === 0 ? '' : pathText(path), line === null ? '' : `(line ${line})`]
    .filter(Boolean)
    .join(' ');
  return `${where === '' ? '' : `${where}: `}saw ${seen}; expected ${expected}${nearestText(nearest)}`;
}

/** Of one source: whoever has more than this wrong mends these first. */
const MOST_SHOWN = 100;

/** The tree as lines: a source, then its problems in the order of the file. */
export function renderDiagnostics(diagnostics: Diagnostics): string[] {
  return diagnostics.flatMap(({ source, problems }) => [
    source,
    ...problems.slice(0, MOST_SHOWN).map((one) => `  ${problemText(one)}`),
    ...(problems.length > MOST_SHOWN ? [`  and ${problems.length - MOST_SHOWN} more`] : []),
  ]);
}

export function diagnosticsOf(...sources: [source: string, problems: Problem[]][]): Diagnostics {
  return sources
    .filter(([, problems]) => problems.length > 0)
    .map(([source, problems]) => ({
      source,
      problems: [...problems].sort((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity) || 0),
    }));
}
