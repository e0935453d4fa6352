import { askProgram } from './ask-program.js';
import { childEnvironmentFor } from './child-environment.js';
import { onPath } from './on-path.js';
import { ownRedis } from './own-redis.js';
import { fail, ok, warn, type Patient, type Row } from './row.js';

/** How long a program may take to print its version, ms. */
const VERSION_MS = 10_000;

/** Your own Redis, when one is configured; else the program that the private one is started from. */
export async function checkRedis({ context, config }: Patient): Promise<Row> {
  if (config.redisUrl !== null) return ownRedis(config.redisUrl);
  const [program] = ['redis-server', 'valkey-server'].flatMap((name) => onPath(name, context.env['PATH']));
  if (program === undefined)
    return fail(
      'redis',
      'neither redis-server nor valkey-server is on PATH',
      'apt-get install redis-server, or brew install redis, or set CMO_REDIS_URL',
    );
  const told = await askProgram(program, ['--version'], childEnvironmentFor(context, null), VERSION_MS);
  const version = told.kind === 'told' ? /v=(\d+\.\d+\.\d+)/.exec(told.out)?.[1] : undefined;
  if (version === undefined)
    return warn('redis', `${program} does not print its version`, `try \`${program} --version\``);
  return Number.parseInt(version, 10) >= 6
    ? ok('redis', `${program} ${version}`)
    : fail('redis', `${program} ${version} is too old; 6.2 or newer is needed`, 'install a newer redis-server');
}
