import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';

/**
 * A text as Redis keeps it: one letter says how, then its bytes.
 *   t  as it is (nothing to gain)      z  deflated
 *   h  only its head: JSON { bytes, node, file } in one line, then the head deflated; the whole text is a file of that node
 */
export type Packed = Buffer;

/** Where the whole text is, when Redis holds only its head. */
export type Cut = { bytes: number; node: string; file: string };

/** Past this the text leaves the event loop for the pool. */
const BIG = 64 * 1024;
const SMALL = 150;
const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

export async function pack(text: string): Promise<Packed> {
  const plain = Buffer.from(text);
  if (plain.length < SMALL) return Buffer.concat([Buffer.from('t'), plain]);
  const small = plain.length > BIG ? await deflate(plain) : deflateRawSync(plain);
  return small.length < plain.length
    ? Buffer.concat([Buffer.from('z'), small])
    : Buffer.concat([Buffer.from('t'), plain]);
}

export async function packHead(head: string, cut: Cut): Promise<Packed> {
  return Buffer.concat([Buffer.from(`h${JSON.stringify(cut)}\n`), await deflate(Buffer.from(head))]);
}

/** Throws for what this version did not write. */
export async function unpack(packed: Packed): Promise<{ text: string; cut: Cut | null }> {
  const body = packed.subarray(1);
  switch (packed.subarray(0, 1).toString()) {
    case 't':
      return { text: body.toString(), cut: null };
    case 'z':
      return { text: await inflated(body), cut: null };
    case 'h': {
      const end = body.indexOf('\n');
      return { text: await inflated(body.subarray(end + 1)), cut: JSON.parse(body.subarray(0, end).toString()) as Cut };
    }
    default:
      throw new Error(`a stored text of an unknown form (${packed.length} bytes)`);
  }
}

async function inflated(bytes: Buffer): Promise<string> {
  return (bytes.length > BIG ? await inflate(bytes) : inflateRawSync(bytes)).toString();
}
