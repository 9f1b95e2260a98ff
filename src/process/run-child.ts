import { type ChildEnd, type ChildOptions, startChild } from "./child.js";

/** Enough to read why something failed; the whole of an endless output would fill the memory. */
export const OUTPUT_LIMIT_BYTES = 1024 * 1024;

export interface Captured {
  /** Head and tail of what was written, with a line in between that says how much is missing. */
  readonly text: string;
  readonly totalBytes: number;
  readonly cut: boolean;
}

export interface ChildRunOptions extends ChildOptions {
  /** Per stream. */
  readonly maxOutputBytes?: number;
  readonly onOutput?: (chunk: Buffer, stream: "stdout" | "stderr") => void;
}

export interface ChildResult extends ChildEnd {
  readonly stdout: Captured;
  readonly stderr: Captured;
}

/** Runs a child to its end and keeps what it wrote, up to a limit. */
export async function runChild(options: ChildRunOptions): Promise<ChildResult> {
  const { maxOutputBytes = OUTPUT_LIMIT_BYTES, onOutput } = options;
  const stdout = new Capture(maxOutputBytes);
  const stderr = new Capture(maxOutputBytes);
  const child = await startChild(options);
  for (const [name, capture] of [
    ["stdout", stdout],
    ["stderr", stderr],
  ] as const) {
    child[name].on("data", (chunk: Buffer) => {
      capture.add(chunk);
      onOutput?.(chunk, name);
    });
  }
  const end = await child.ended;
  return { ...end, stdout: stdout.result(), stderr: stderr.result() };
}

/** Keeps the first and the last half of a stream in bounded memory. */
export class Capture {
  readonly #half: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #total = 0;

  constructor(limitBytes: number) {
    this.#half = Math.max(1, Math.floor(limitBytes / 2));
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = this.#half - this.#headBytes;
    if (room > 0) {
      // Copied, because a pipe's chunks are slices of larger pools that would stay alive.
      this.#head.push(Buffer.from(chunk.subarray(0, room)));
      this.#headBytes += Math.min(room, chunk.length);
    }
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length === 0) return;
    this.#tail.push(Buffer.from(rest.subarray(Math.max(0, rest.length - this.#half))));
    this.#tailBytes += Math.min(rest.length, this.#half);
    if (this.#tailBytes > 4 * this.#half) this.#compact();
  }

  result(): Captured {
    this.#compact();
    const missing = this.#total - this.#headBytes - this.#tailBytes;
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (missing === 0)
      return { text: Buffer.concat([head, tail]).toString("utf8"), totalBytes: this.#total, cut: false };
    const text = `${head.toString("utf8")}\n… ${missing} bytes left out …\n${tail.toString("utf8")}`;
    return { text, totalBytes: this.#total, cut: true };
  }

  #compact(): void {
    const all = Buffer.concat(this.#tail);
    const tail = all.subarray(Math.max(0, all.length - this.#half));
    this.#tail = [tail];
    this.#tailBytes = tail.length;
  }
}
