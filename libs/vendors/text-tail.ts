/**
 * The end of a text that comes in millions of small pieces. Held as bytes: strings that are joined piece by piece
 * outlive their own moment, and a runaway stream of them makes the heap grow by tens of megabytes.
 */
export class TextTail {
  private buffer = Buffer.alloc(0);
  private used = 0;
  private readonly most: number;

  /** @param most bytes that are kept at least, when there are so many */
  constructor(most: number) {
    this.most = most;
  }

  add(text: string): void {
    if (text.length > this.most) this.used = 0;
    const piece = text.length > this.most ? text.slice(-this.most).replace(/^[\udc00-\udfff]/, '') : text;
    const needed = Buffer.byteLength(piece);
    if (this.used + needed > this.buffer.length) this.makeRoom(needed);
    this.used += this.buffer.write(piece, this.used);
  }

  clear(): void {
    this.used = 0;
  }

  text(): string {
    return this.buffer.toString('utf8', 0, this.used);
  }

  private makeRoom(needed: number): void {
    if (this.used > this.most) this.dropFront(this.used - this.most);
    if (this.used + needed <= this.buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.min(Math.max(this.buffer.length * 2, 4096), 2 * this.most) + needed);
    this.buffer.copy(grown, 0, 0, this.used);
    this.buffer = grown;
  }

  /** Never in the middle of a character. */
  private dropFront(bytes: number): void {
    let from = bytes;
    while (from < this.used && ((this.buffer[from] ?? 0) & 0xc0) === 0x80) from++;
    this.buffer.copyWithin(0, from, this.used);
    this.used -= from;
  }
}
