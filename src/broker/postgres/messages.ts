// PostgreSQL's protocol, version 3: a letter, a length, a body. What both sides of the gateway write and read of it.

export const SSL_REQUEST = 80_877_103;
export const GSS_REQUEST = 80_877_104;
export const CANCEL_REQUEST = 80_877_102;
export const PROTOCOL = 196_608;

export function message(type: string, ...parts: readonly (string | Uint8Array)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "utf8") : part)));
  const head = Buffer.alloc(5);
  head.write(type, 0, "latin1");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

export const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value | 0);
  return bytes;
};

/** The first message of a connection has no letter. */
export function startup(code: number, body: Uint8Array = Buffer.alloc(0)): Buffer {
  return Buffer.concat([int32(body.length + 8), int32(code), body]);
}

export function startupBody(parameters: Readonly<Record<string, string>>): Buffer {
  const rows = Object.entries(parameters).flatMap(([name, value]) => [name, "\0", value, "\0"]);
  return Buffer.from(`${rows.join("")}\0`, "utf8");
}

export function readParameters(body: Buffer): Record<string, string> {
  const words = body.toString("utf8").split("\0");
  const parameters: Record<string, string> = {};
  for (let at = 0; at + 1 < words.length && words[at] !== ""; at += 2) parameters[words[at]!] = words[at + 1]!;
  return parameters;
}

/** What psql and every driver show as an error. */
export function errorMessage(text: string, code: string, severity = "FATAL"): Buffer {
  const fields = [`S${severity}`, `V${severity}`, `C${code}`, `M${text}`].map((field) => `${field}\0`);
  return message("E", `${fields.join("")}\0`);
}

/** The fields of an error or a notice, by their letters. */
export function errorFields(body: Buffer): Record<string, string> {
  return Object.fromEntries(
    body
      .toString("utf8")
      .split("\0")
      .filter((field) => field !== "")
      .map((field) => [field[0]!, field.slice(1)]),
  );
}

export interface Message {
  readonly type: string;
  readonly body: Buffer;
}

/** Whole messages out of pieces, up to a size: for what we read ourselves. */
export class Frames {
  #held: Buffer = Buffer.alloc(0);
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Throws for a message nobody sends. */
  push(chunk: Buffer): Message[] {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const found: Message[] = [];
    while (this.#held.length >= 5) {
      const length = this.#held.readInt32BE(1);
      if (length < 4 || length > this.#most) throw new Error("a message of an impossible length");
      if (this.#held.length < length + 1) break;
      found.push({ type: String.fromCharCode(this.#held[0]!), body: this.#held.subarray(5, length + 1) });
      this.#held = this.#held.subarray(length + 1);
    }
    return found;
  }

  /** What came after the last whole message. */
  rest(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }
}
