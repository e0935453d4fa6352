import { stat } from 'node:fs/promises';
import { execa } from 'execa';

export type CliVersion = { ok: true; version: string } | { ok: false; why: string };

export type VersionOptions = {
  /** The whole environment; nothing of ours is added. */
  env: Readonly<Record<string, string>>;
  /** Ms. Both CLIs take about a second on a busy box. */
  boundMs?: number;
};

const known = new Map<string, { stamp: string; version: CliVersion }>();

/** Asks `<cli> --version`; asked once for each state of the file. @param cli absolute path */
export async function cliVersion(cli: string, options: VersionOptions): Promise<CliVersion> {
  const file = await stat(cli).catch(() => null);
  if (!file) return { ok: false, why: `${cli} is not there` };
  const stamp = `${file.mtimeMs}/${file.size}/${file.ino}`;
  const before = known.get(cli);
  if (before?.stamp === stamp) return before.version;
  const version = await ask(cli, options);
  if (version.ok) known.set(cli, { stamp, version });
  return version;
}

async function ask(cli: string, { env, boundMs = 10_000 }: VersionOptions): Promise<CliVersion> {
  const child = execa(cli, ['--version'], {
    env,
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
    maxBuffer: 64 * 1024,
    detached: true,
  });
  // The whole group, since a wrapper's child would hold the pipe; and no longer, since a stray of another session holds
  // it too.
  let bound: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    bound = setTimeout(() => {
      endGroup(child.pid);
      resolve(null);
    }, boundMs);
  });
  const answer = await Promise.race([child, late]);
  clearTimeout(bound);
  if (answer === null) return { ok: false, why: `no answer within ${boundMs} ms` };
  if (answer.failed) return { ok: false, why: answer.shortMessage ?? 'it failed' };
  const text = answer.stdout ?? '';
  const version = /\d+\.\d+\.\d+[0-9A-Za-z.+-]*/.exec(text)?.[0];
  return version === undefined
    ? { ok: false, why: `it says no version: ${text.slice(0, 200)}` }
    : { ok: true, version };
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has left.
  }
}
