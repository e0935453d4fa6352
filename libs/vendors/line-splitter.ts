const NEWLINE = 0x0a;
/** First size of the line buffer, and the size up to which it is kept for the next line. */
const ROOM = 4096;
const KEPT = 1024 * 1024;

export type SplitterLimits = { lineBytes: number; totalBytes: number };

/** One answer of 20 MB is one line of 21 MB (seen); a whole claude stream of it is 63 MB. */
export const DEFAULT_LIMITS: SplitterLimits = { lineBytes: 32 * 1024 * 1024, totalBytes: 512 * 1024 * 1024 };

/**
 * Cuts a byte stream into lines. Bytes are decoded only when a line is whole, so a character split between reads is never
 * torn. A line past its cap is dropped to its end, everything past the total cap is not read.
 *
 * States: collecting → (cap) → skipping → (newline) → collecting; any → (total) → flooded.
 */
export class LineSplitter {
  private buffer = Buffer.alloc(0);
  private held = 0;
  private skipping = false;
  /** Lines dropped for their length. */
  dropped = 0;
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
    for (let start = 0; start < chunk.length; ) {
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
    if (this.held + piece.length > this.limits.lineBytes) {
      this.clear();
      this.skipping = true;
      this.dropped += 1;
      return;
    }
    this.makeRoom(this.held + piece.length);
    // A copy: the caller may reuse its buffer.
    this.buffer.set(piece, this.held);
    this.held += piece.length;
  }

  /** By doubling, so that reads of a byte each cost no more than one of all. */
  private makeRoom(bytes: number): void {
    if (bytes <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(bytes, Math.min(this.buffer.length * 2, this.limits.lineBytes), ROOM));
    this.buffer.copy(grown, 0, 0, this.held);
    this.buffer = grown;
  }

  private take(): string | null {
    if (this.skipping) {
      this.skipping = false;
      return null;
    }
    const line = this.buffer.toString('utf8', 0, this.held);
    this.clear();
    return line;
  }

  private clear(): void {
    this.held = 0;
    if (this.buffer.length > KEPT) this.buffer = Buffer.alloc(0);
  }
}
