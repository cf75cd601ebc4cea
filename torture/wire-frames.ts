// PostgreSQL's messages, cut out of what a socket brings: one byte says what it is, four how long it is. Only the client's very
// first one has no such byte.

export interface Frame {
  /** Empty for the client's first. */
  readonly type: string;
  readonly bytes: Buffer;
}

export class Frames {
  private rest: Buffer = Buffer.alloc(0);

  constructor(private hasStart: boolean) {}

  take(chunk: Buffer): Frame[] {
    const frames: Frame[] = [];
    let bytes = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    for (;;) {
      const typeBytes = this.hasStart ? 0 : 1;
      if (bytes.length < typeBytes + 4) break;
      const length = typeBytes + bytes.readUInt32BE(typeBytes);
      if (bytes.length < length) break;
      frames.push({ type: this.hasStart ? "" : String.fromCharCode(bytes[0]!), bytes: bytes.subarray(0, length) });
      this.hasStart = false;
      bytes = bytes.subarray(length);
    }
    this.rest = bytes;
    return frames;
  }
}

/** The text of a simple query or of a command's end: what stands before the closing zero. */
export const textOf = ({ bytes }: Frame): string => bytes.toString("utf8", 5, bytes.length - 1);
