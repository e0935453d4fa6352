import {
  fstatSync,
  mkdirSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { processCacheFolder } from '#config/paths';

/**
 * What Node starts as `cmo`. Compiling the everyday commands costs as much again as starting Node does, so what V8 made
 * of them is kept in the cache folder, for each command (what one runs is not what another runs), this Node and this
 * build. V8 refuses what another version made, but takes any bytes of its own for good ones: a file that a power cut
 * left with holes would end every start. So it carries a sum of ours. Whenever anything here is not right, the commands
 * are compiled.
 */
declare const CMO_HOT: { file: string; hash: string };
/** Of the CommonJS file that this becomes: as ES has them they cost a start half a millisecond. */
declare const __dirname: string;
declare const require: NodeJS.Require;

const KEPT: readonly string[] = [
  'run',
  'submit',
  'wait',
  'result',
  'cancel',
  'plan',
  'limits',
  'guard',
  'ls',
  'show',
  'logs',
  'status',
];
const KEEP_MS = 7 * 86_400_000;
const HEAD = 16;
/** Beside it in dist; not known to the compiler. */
const COLD: string = './cold.mjs';

const hot = join(__dirname, CMO_HOT.file);

function start(): void {
  const [, , command = ''] = process.argv;
  const file = KEPT.includes(command) ? cacheFile(command) : null;
  const cached = file === null ? undefined : ownFile(file);
  // esbuild writes nothing but ASCII: one byte a letter, and nothing to decode.
  const source = readFileSync(hot, 'latin1');
  const script = new Script(`(function (exports, require, module, __filename, __dirname, cmoCold) {${source}\n})`, {
    filename: hot,
    ...(cached && { cachedData: cached }),
  });
  if (file !== null && (cached === undefined || script.cachedDataRejected))
    process.once('exit', () => keep(file, script));
  const module = { exports: {} };
  const run = script.runInThisContext() as (
    exports: object,
    load: NodeJS.Require,
    of: object,
    name: string,
    folder: string,
    cold: () => Promise<unknown>,
  ) => void;
  run(module.exports, require, module, hot, __dirname, coldLoader());
}

/** A package in which nothing has changed for so long, ms, is whole. */
const SETTLED_MS = 1_000;

/**
 * Node remembers a file that could not be loaded, by its name, for as long as the process lives: of a package that is
 * just being replaced nothing may be loaded before all of it is there, or it could never be loaded here again.
 */
function coldLoader(): () => Promise<unknown> {
  let failures = 0;
  return async () => {
    if (isBeingReplaced())
      throw Object.assign(new Error('the package is being replaced'), { code: 'ERR_MODULE_NOT_FOUND' });
    try {
      return await import(failures === 0 ? COLD : `${COLD}?${failures}`);
    } catch (error) {
      failures++;
      throw error;
    }
  };
}

function isBeingReplaced(): boolean {
  const now = Date.now();
  const changedAt = (file: string): number | undefined =>
    statSync(join(__dirname, file), { throwIfNoEntry: false })?.ctimeMs;
  const changed = changedAt(COLD);
  if (changed === undefined) return true;
  if (changed < now - performance.now()) return false;
  const files = readdirSync(__dirname, { recursive: true, encoding: 'utf8' });
  return files.some((file) => now - (changedAt(file) ?? now) < SETTLED_MS);
}

function cacheFile(command: string): string | null {
  try {
    return join(processCacheFolder(), 'code', `${CMO_HOT.hash}-${process.version}-${process.arch}-${command}`);
  } catch {
    return null;
  }
}

/** Read only when no other user could have written it: what it holds is executed. */
function ownFile(path: string): Buffer | undefined {
  try {
    const handle = openSync(path, 'r');
    try {
      const { uid, mode } = fstatSync(handle);
      const own = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
      return own ? wholeOf(readFileSync(handle)) : undefined;
    } finally {
      closeSync(handle);
    }
  } catch {
    return undefined;
  }
}

/** The file's content, when the checksum in front of it is right. */
function wholeOf(bytes: Buffer): Buffer | undefined {
  const data = bytes.subarray(HEAD);
  return bytes.length > HEAD && bytes.toString('latin1', 0, HEAD) === headOf(data) ? data : undefined;
}

/**
 * Its length, and a sum over one byte of each 512: a hole is a page, and a longer sum would cost what is to be saved.
 */
function headOf(data: Uint8Array): string {
  let sum = data.length;
  for (let i = 0; i < data.length; i += 512) sum = (Math.imul(sum, 31) + (data[i] ?? 0)) | 0;
  return `${(sum >>> 0).toString(16).padStart(8, '0')}${data.length.toString(16).padStart(8, '0')}`;
}

/** Runs after the command, so that the code it called is in the cache. Two processes at once write the same. */
function keep(file: string, script: Script): void {
  const folder = dirname(file);
  const temp = `${file}.${process.pid}`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const data = script.createCachedData();
    writeFileSync(temp, Buffer.concat([Buffer.from(headOf(data), 'latin1'), data]), { mode: 0o600, flush: true });
    renameSync(temp, file);
    for (const name of readdirSync(folder))
      if (!name.startsWith(CMO_HOT.hash) && Date.now() - statSync(join(folder, name)).mtimeMs > KEEP_MS)
        rmSync(join(folder, name), { force: true });
  } catch {
    forget(temp);
  }
}

/** It is only a cache; but a full disk must not be left a piece of it. */
function forget(temp: string): void {
  try {
    rmSync(temp, { force: true });
  } catch {
    // There is no such folder.
  }
}

start();
