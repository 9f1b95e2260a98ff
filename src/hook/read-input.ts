// Reading a hook's payload, within limits: a host that never closes its end must not make a gate wait until the host gives
// up, because a host that gives up lets the tool run. A stream, not a plain read: a process cannot exit while a thread of
// its own is stuck in read().
import type { Readable } from "node:stream";

export const INPUT_LIMIT_BYTES = 20 * 1024 * 1024;
export const INPUT_WAIT_MS = 1_500;

/** null when it did not come in time or is too large. A complete JSON text is enough; the end need not come. */
export function readInput(
  stream: Readable,
  { limit = INPUT_LIMIT_BYTES, waitMs = INPUT_WAIT_MS } = {},
): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    const finish = (result: Buffer | null) => {
      clearTimeout(timer);
      stream.removeAllListeners("data");
      resolve(result);
    };
    const timer = setTimeout(() => finish(null), waitMs);
    stream.on("error", () => finish(null));
    stream.on("end", () => finish(Buffer.concat(parts)));
    stream.on("data", (chunk: Buffer) => {
      parts.push(chunk);
      size += chunk.length;
      if (size > limit) finish(null);
      // Only a last byte that can end an object is worth a try at parsing.
      else if (chunk[chunk.length - 1] === 0x7d && complete(parts)) finish(Buffer.concat(parts));
    });
  });
}

function complete(parts: readonly Buffer[]): boolean {
  try {
    JSON.parse(Buffer.concat(parts).toString("utf8"));
    return true;
  } catch {
    return false;
  }
}
