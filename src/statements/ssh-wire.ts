// The SSH wire format (RFC 4251): length-prefixed strings. A reader that gives what is there or null, never throws.

export function wireString(bytes: Uint8Array | string): Buffer {
  const content = Buffer.from(bytes as Uint8Array);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(content.length);
  return Buffer.concat([head, content]);
}

export function wireNumber(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export class WireReader {
  private at = 0;
  private readonly bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get atEnd(): boolean {
    return this.at === this.bytes.length;
  }

  take(length: number): Buffer | null {
    if (this.at + length > this.bytes.length) return null;
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  number(): number | null {
    return this.take(4)?.readUInt32BE(0) ?? null;
  }

  string(): Buffer | null {
    const length = this.number();
    return length === null ? null : this.take(length);
  }

  text(): string | null {
    return this.string()?.toString("latin1") ?? null;
  }

  /** A positive whole number without its sign byte; null for one that is negative or longer than it need be. */
  mpint(): Buffer | null {
    const bytes = this.string();
    if (bytes === null || bytes.length === 0 || bytes[0]! >= 0x80) return null;
    if (bytes[0] !== 0) return bytes;
    return bytes.length > 1 && bytes[1]! >= 0x80 ? bytes.subarray(1) : null;
  }
}
