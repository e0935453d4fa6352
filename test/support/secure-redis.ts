import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { onLeave } from './on-leave.js';
import { isAlive, killNow, signal } from './processes.js';
import { waitUntil } from './wait-until.js';

/** A TCP port of the loopback that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

/** An authority that nobody knows, and a certificate of it for localhost: paths of PEM files. */
export function makeCertificates(folder: string): { ca: string; cert: string; key: string } {
  const at = (name: string): string => join(folder, name);
  const openssl = (...words: string[]): void => void execFileSync('openssl', words, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  writeFileSync(at('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  openssl(
    'req',
    '-x509',
    ...key,
    '-days',
    '2',
    '-subj',
    '/CN=authority of a test',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  );
  openssl('req', ...key, '-subj', '/CN=localhost', '-keyout', 'redis.key', '-out', 'redis.csr');
  openssl(
    'x509',
    '-req',
    '-in',
    'redis.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-days',
    '2',
    '-extfile',
    'names',
    '-out',
    'redis.pem',
  );
  return { ca: at('ca.pem'), cert: at('redis.pem'), key: at('redis.key') };
}

export type TestSentinel = {
  port: number;
  /** The port of the primary, as it says. */ primary(): Promise<number>;
  close(): Promise<void>;
};

/** One real Sentinel with a password, that watches `master` and fails it over by itself. */
export async function startSentinel(
  folder: string,
  password: string,
  master: { name: string; port: number },
): Promise<TestSentinel> {
  const port = await freePort();
  const file = join(folder, 'sentinel.conf');
  const rules = [
    `monitor ${master.name} 127.0.0.1 ${master.port} 1`,
    `down-after-milliseconds ${master.name} 500`,
    `failover-timeout ${master.name} 4000`,
  ];
  writeFileSync(
    file,
    [
      `port ${port}`,
      `requirepass ${password}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `logfile ${join(folder, 'sentinel.log')}`,
      ...rules.map((rule) => `sentinel ${rule}`),
      '',
    ].join('\n'),
  );
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  const pid = child.pid ?? 0;
  onLeave(() => {
    if (pid > 0 && isAlive(pid)) signal(pid, 'SIGKILL');
  });
  const client = new Redis({ host: '127.0.0.1', port, password, maxRetriesPerRequest: null, enableReadyCheck: false });
  client.on('error', () => undefined);
  const ask = (...words: [string, ...string[]]): Promise<unknown> => client.call('SENTINEL', ...words);
  await waitUntil(async () => ((await ask('replicas', master.name)) as unknown[]).length > 0, {
    what: 'the Sentinel to know of a replica',
  });
  return {
    port,
    async primary() {
      const [, of] = (await ask('get-master-addr-by-name', master.name)) as [string, string];
      return Number(of);
    },
    async close() {
      client.disconnect();
      await killNow(pid);
    },
  };
}
