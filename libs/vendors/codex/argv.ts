import type { ArgvInput } from '../adapter.js';

/**
 * `codex exec` for one attempt; the prompt comes by stdin (`-`). `exec` never asks. A resumed thread has neither
 * `--sandbox` nor `-C`: the same is said by `-c`, and the working directory is the process's own.
 */
export function codexArgv(input: ArgvInput): string[] {
  const { model, effort, access, fullAccess, cwd, files, resume } = input;
  const sandbox = access === 'read' ? 'read-only' : 'workspace-write';
  const bypass = fullAccess && access === 'write';
  const common = ['--json', '--skip-git-repo-check', '-m', model];
  if (effort !== null) common.push('-c', `model_reasoning_effort=${effort}`);
  if (files.schema !== null) common.push('--output-schema', files.schema);
  common.push('--output-last-message', files.lastMessage);
  const free = '--dangerously-bypass-approvals-and-sandbox';
  if (resume !== null)
    return ['exec', 'resume', ...common, ...(bypass ? [free] : ['-c', `sandbox_mode="${sandbox}"`]), resume, '-'];
  return ['exec', '-', ...common, ...(bypass ? [free] : ['--sandbox', sandbox]), '-C', cwd];
}
