/**
 * Where Redis is, in one text:
 *
 *   redis://[user[:password]@]host[:port][/db]        rediss://…: the same over TLS
 *   redis+sentinel://[user[:password]@]host[:port][,host[:port]…]/master[/db]      rediss+sentinel://…: both over TLS
 *   unix:/path[?db=n]
 *
 * After a `?`: `ca`, `cert`, `key` (files in PEM, absolute paths) and `servername` for TLS; `sentinelUser` and
 * `sentinelPassword` for Sentinel. Not the platform's URL: it takes no list of hosts. A user, a password or a value
 * after `?` that holds one of `@ : / ? # & %` has it percent-encoded.
 */
export type RedisTarget = {
  where:
    | { kind: 'host'; host: string; port: number }
    | { kind: 'socket'; path: string }
    | {
        kind: 'sentinel';
        sentinels: { host: string; port: number }[];
        master: string;
        user: string | null;
        password: string | null;
      };
  user: string | null;
  password: string | null;
  db: number;
  /** Null: no TLS. Files are named, not read; null: the platform's own authorities, no certificate of ours. */
  tls: { ca: string | null; cert: string | null; key: string | null; serverName: string | null } | null;
};

export const REDIS_ADDRESS_FORMS =
  'redis://host:port, rediss://host:port, redis+sentinel://host:port,host:port/master or unix:/path';

const PORT = 6379;
const SENTINEL_PORT = 26379;
const TLS_WORDS = ['ca', 'cert', 'key', 'servername'];
const SENTINEL_WORDS = ['sentinelUser', 'sentinelPassword'];

/** Null: it can't be understood, as a whole. Nothing of a half-understood address is used. */
export function parseRedisAddress(text: string): RedisTarget | null {
  const match = /^(redis|rediss|redis\+sentinel|rediss\+sentinel|unix):([^?#\s]+)(?:\?([^#\s]*))?$/.exec(text);
  if (!match) return null;
  const [, scheme = '', rest = '', query = ''] = match;
  const secure = scheme.startsWith('rediss');
  const sentinel = scheme.endsWith('+sentinel');
  const words = queryOf(
    query,
    scheme === 'unix' ? ['db'] : [...(secure ? TLS_WORDS : []), ...(sentinel ? SENTINEL_WORDS : [])],
  );
  if (!words) return null;
  if (scheme === 'unix') return socketTarget(rest, words);

  const parts = /^\/\/(?:([^@/]*)@)?([^@/]+)(?:\/([^/]*))?(?:\/([^/]*))?$/.exec(rest);
  if (!parts) return null;
  const [, login = '', list = '', first, second] = parts;
  const [user, password] = loginOf(login);
  if (user === undefined || password === undefined) return null;
  const hosts = list.split(',').map((one) => hostOf(one, sentinel ? SENTINEL_PORT : PORT));
  const [only] = hosts;
  const db = dbOf((sentinel ? second : first) ?? '');
  const tls = tlsOf(secure, words);
  if (hosts.includes(null) || !only || db === null || tls === undefined) return null;
  if (!sentinel)
    return hosts.length > 1 || second !== undefined
      ? null
      : { where: { kind: 'host', ...only }, user, password, db, tls };
  const master = decoded(first ?? '');
  if (!master || !/^[A-Za-z0-9._-]+$/.test(master)) return null;
  const sentinels = hosts.flatMap((host) => (host ? [host] : []));
  return {
    where: {
      kind: 'sentinel',
      sentinels,
      master,
      user: words.get('sentinelUser') ?? null,
      password: words.get('sentinelPassword') ?? null,
    },
    user,
    password,
    db,
    tls,
  };
}

/** For logs, listings and messages: everything but what may be a secret. */
export function shownRedisAddress(text: string): string {
  const target = parseRedisAddress(text);
  if (!target) return 'an unreadable address';
  const { where, db } = target;
  const scheme = target.tls ? 'rediss' : 'redis';
  const after = db === 0 ? '' : `/${db}`;
  switch (where.kind) {
    case 'socket':
      return `unix:${where.path}${db === 0 ? '' : `?db=${db}`}`;
    case 'host':
      return `${scheme}://${shownHost(where)}${after}`;
    case 'sentinel':
      return `${scheme}+sentinel://${where.sentinels.map(shownHost).join(',')}/${where.master}${after}`;
  }
}

function shownHost({ host, port }: { host: string; port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function socketTarget(rest: string, words: ReadonlyMap<string, string>): RedisTarget | null {
  const path = decoded(rest.replace(/^\/\/(?=\/)/, ''));
  const db = dbOf(words.get('db') ?? '');
  return path?.startsWith('/') === true && db !== null
    ? { where: { kind: 'socket', path }, user: null, password: null, db, tls: null }
    : null;
}

/** Undefined: not understood. `:secret@` is a password without a user. */
function loginOf(login: string): [string | null | undefined, string | null | undefined] {
  const colon = login.indexOf(':');
  const part = (text: string): string | null | undefined => (text === '' ? null : (decoded(text) ?? undefined));
  return colon === -1 ? [part(login), null] : [part(login.slice(0, colon)), part(login.slice(colon + 1))];
}

function hostOf(text: string, otherwise: number): { host: string; port: number } | null {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\],]+))(?::([0-9]{1,5}))?$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = match?.[3] === undefined ? otherwise : Number(match[3]);
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port };
}

function dbOf(text: string): number | null {
  if (text === '') return 0;
  return /^[0-9]{1,4}$/.test(text) ? Number(text) : null;
}

/**
 * Undefined: not understood. A certificate without its key, or the other way round, would fail only at the first
 * connection.
 */
function tlsOf(secure: boolean, words: ReadonlyMap<string, string>): RedisTarget['tls'] | undefined {
  if (!secure) return null;
  const file = (name: string): string | null => words.get(name) ?? null;
  const [ca, cert, key] = [file('ca'), file('cert'), file('key')];
  if ([ca, cert, key].some((path) => path !== null && !path.startsWith('/'))) return undefined;
  if ((cert === null) !== (key === null)) return undefined;
  return { ca, cert, key, serverName: file('servername') };
}

/** Null: an unknown or repeated name, or a value that can't be decoded. */
function queryOf(query: string, allowed: readonly string[]): Map<string, string> | null {
  const words = new Map<string, string>();
  for (const pair of query.split('&').filter((one) => one !== '')) {
    const [, name = '', raw = ''] = /^([^=]*)=(.+)$/.exec(pair) ?? [];
    const value = decoded(raw);
    if (!allowed.includes(name) || words.has(name) || !value) return null;
    words.set(name, value);
  }
  return words;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
