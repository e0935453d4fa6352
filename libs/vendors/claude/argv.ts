import type { ArgvInput } from '../adapter.js';

/** What a reader may use without being asked; Bash only by the configured commands. */
const READ_TOOLS = ['Read', 'Glob', 'Grep'];
/** Named as well, since a person's own settings may allow them and a denial outranks an allowance. */
const WRITE_TOOLS = ['Edit', 'Write', 'NotebookEdit'];

/**
 * `claude -p` for one attempt; the prompt comes by stdin. Writer: nothing is asked. Reader: dontAsk denies what the
 * allow-list does not name, inside the turn, and the turn goes on. Partial messages are asked for because only they
 * make silence mean something: without them a long answer is silent until its end.
 */
export function claudeArgv(input: ArgvInput): string[] {
  const { model, effort, access, schemaText, resume, newSession, readCommands } = input;
  const argv = ['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages', '--model', model];
  if (effort !== null) argv.push('--effort', effort);
  if (access === 'write') argv.push('--dangerously-skip-permissions');
  else
    argv.push(
      '--permission-mode',
      'dontAsk',
      '--allowedTools',
      ...READ_TOOLS,
      ...readCommands.map((command) => `Bash(${command}:*)`),
      '--disallowedTools',
      ...WRITE_TOOLS,
    );
  if (schemaText !== null) argv.push('--json-schema', schemaText);
  // The same id a second time is refused: a resumed session keeps the one it has.
  argv.push(...(resume === null ? ['--session-id', newSession] : ['--resume', resume]));
  return argv;
}
