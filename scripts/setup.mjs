// What `npm run try`, `npm test` and `npm run chaos` begin with: makes a fresh clone ready, then runs the one that was
// asked for. Plain Node without a package, because there are none yet.
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { say } from './setup/command.mjs';
import { installDependencies } from './setup/dependencies.mjs';
import { buildIfChanged } from './setup/bundle.mjs';
import { withLock } from './setup/lock.mjs';
import { nodeProblem } from './setup/node-version.mjs';
import { provideRedis } from './setup/redis.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Resolves to an exit code when the clone can't be made ready, else to null. */
async function makeReady() {
  const old = nodeProblem();
  if (old) return fail(old, 1);
  return withLock(join(root, '.cache', 'setup.lock'), 'setting up', async () => {
    const packages = await installDependencies(root);
    if (packages) return fail(packages, 1);
    const redis = await provideRedis();
    if (redis) return fail(redis, 5);
    const build = await buildIfChanged(root);
    if (build) return fail(build, 1);
    return null;
  });
}

function fail(line, code) {
  say(line);
  return code;
}

const PROGRAMS = { try: './try.mjs', test: './suite.mjs', chaos: './chaos.mjs' };
const [program, ...args] = process.argv.slice(2);
if (!Object.hasOwn(PROGRAMS, program ?? '')) {
  process.exitCode = fail(`usage: node scripts/setup.mjs ${Object.keys(PROGRAMS).join('|')} [arguments]`, 2);
} else {
  process.chdir(root);
  process.exitCode = (await makeReady()) ?? (await (await import(PROGRAMS[program])).main(args));
}
