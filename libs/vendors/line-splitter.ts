const NEWLINE = 0x0a;
/**
 * A line is held in blocks of this size: no block is ever copied to make room, so a long line costs its own length and
 * no more.
 */
const BLOCK = 64 * 1024;
/** Of a line that cannot be an event: what is ever read of a document that is laid out over lines. */
const NOISE_MAX = 1024 * 1024;
/**
 * How an event, or a list of them, may begin: a brace or bracket, or what a terminal or an editor puts in front (ESC,
 * BOM).
 */
const BEGINNINGS = new Set([0x7b, 0x5b, 0x1b, 0xef]);
const BLANKS = new Set([0x20, 0x09, 0x0d, 0x00]);

export type SplitterLimits = { lineBytes: number; totalBytes: number };

/** One answer of 20 MB is one line of 21 MB (seen); a whole claude stream of it is 63 MB. */
export const DEFAULT_LIMITS: SplitterLimits = { lineBytes: 32 * 1024 * 1024, totalBytes: 512 * 1024 * 1024 };

/**
 * Cuts a byte stream into lines. Bytes are decoded only when a line is whole, so a character split between reads is
 * never torn. A line past its cap is dropped to its end, everything past the total cap is not read. A line that is no
 * JSON has a far lower cap: nothing but its beginning is ever looked at.
 *
 * States: collecting → (cap) → skipping → (newline) → collecting; any → (total) → flooded.
 */
export class LineSplitter {
  private readonly full: Buffer[] = [];
  /** The block that is being filled; kept for the next line. */
  private block = Buffer.alloc(0);
  private used = 0;
  private held = 0;
  private skipping = false;
  /** Null until the first byte of the line that is no blank. */
  private isNoise: boolean | null = null;
  /** Lines dropped for their length. */
  dropped = 0;
  /** The last line of all was dropped, and may have been an event: nothing came behind it. */
  endsDropped = false;
  total = 0;
  flooded = false;

  private readonly limits: SplitterLimits;

  constructor(limits: SplitterLimits = DEFAULT_LIMITS) {
    this.limits = limits;
  }

  push(chunk: Uint8Array): string[] {
    if (this.flooded) return [];
    this.total += chunk.length;
    if (this.total > this.limits.totalBytes) {
      this.flooded = true;
      this.clear();
      return [];
    }
    const lines: string[] = [];
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline;
      this.hold(chunk.subarray(start, end));
      if (newline < 0) break;
      const line = this.take();
      if (line !== null) lines.push(line);
      start = newline + 1;
    }
    return lines;
  }

  /** The last line, when no newline ended it. */
  rest(): string | null {
    return this.held > 0 || this.skipping ? this.take() : null;
  }

  private hold(piece: Uint8Array): void {
    if (this.skipping || piece.length === 0) return;
    this.isNoise ??= noise(piece);
    if (
      this.held + piece.length >
      (this.isNoise === true ? Math.min(NOISE_MAX, this.limits.lineBytes) : this.limits.lineBytes)
    ) {
      this.endsDropped = this.isNoise !== true;
      this.clear();
      this.skipping = true;
      this.dropped += 1;
      return;
    }
    this.held += piece.length;
    // A copy: the caller may reuse its buffer.
    for (let from = 0; from < piece.length;) {
      if (this.used === this.block.length) this.nextBlock();
      const part = piece.subarray(from, from + this.block.length - this.used);
      this.block.set(part, this.used);
      this.used += part.length;
      from += part.length;
    }
  }

  private nextBlock(): void {
    if (this.block.length > 0) this.full.push(this.block);
    this.block = Buffer.allocUnsafeSlow(BLOCK);
    this.used = 0;
  }

  private take(): string | null {
    if (this.skipping) {
      this.skipping = false;
      this.isNoise = null;
      return null;
    }
    const last = this.block.subarray(0, this.used);
    if (this.held > 0) this.endsDropped = false;
    const line = (this.full.length === 0 ? last : Buffer.concat([...this.full, last])).toString('utf8');
    this.clear();
    return line;
  }

  private clear(): void {
    this.full.length = 0;
    this.isNoise = null;
    this.used = 0;
    this.held = 0;
  }
}

function noise(piece: Uint8Array): boolean | null {
  const first = piece.find((byte) => !BLANKS.has(byte));
  return first === undefined ? null : !BEGINNINGS.has(first);
}
