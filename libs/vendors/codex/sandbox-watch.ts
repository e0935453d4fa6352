/** How the CLI's own sandbox says that it could not start: at the beginning of a command's output. */
const SANDBOX_ERROR =
  /^\s*(?:bwrap: |(?:error: )?(?:codex-linux-sandbox|landlock|seccomp)\b|sandbox(?:-exec)?: |thread 'main' panicked at .*sandbox|error (?:running|applying) (?:landlock|seccomp|legacy linux sandbox)\b)/i;

/**
 * The one place where a tool's output is evidence: a turn all of whose commands died in the CLI's own sandbox did
 * nothing, though it ends as a success (a container without user namespaces). A command that itself calls bwrap proves
 * nothing.
 */
export class SandboxWatch {
  private commands = 0;
  private died = 0;

  command(command: string, output: string, exitCode: number | null, status: string | null): void {
    this.commands += 1;
    const failed = (exitCode !== null && exitCode !== 0) || status === 'failed';
    if (failed && SANDBOX_ERROR.test(output.slice(0, 300)) && !/\b(?:bwrap|unshare|landlock)\b/.test(command))
      this.died += 1;
  }

  broken(): boolean {
    return this.commands > 0 && this.died === this.commands;
  }
}
