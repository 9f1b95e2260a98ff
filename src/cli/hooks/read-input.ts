// Reading a hook's payload from a descriptor, within limits: a host that never closes its end must not make a gate wait until
// the host gives up, because a host that gives up lets the tool run.
import { read } from "node:fs";

export const INPUT_LIMIT_BYTES = 20 * 1024 * 1024;
export const INPUT_WAIT_MS = 1_500;

/** null when it did not come in time or is too large. A complete JSON text is enough; the end need not come. */
export function readInput(
  fd: number,
  { limit = INPUT_LIMIT_BYTES, waitMs = INPUT_WAIT_MS } = {},
): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => finish(complete(parts) ? Buffer.concat(parts) : null), waitMs);
    const finish = (result: Buffer | null) => {
      clearTimeout(timer);
      resolve(result);
    };
    const next = () => {
      const chunk = Buffer.allocUnsafe(64 * 1024);
      read(fd, chunk, 0, chunk.length, null, (error, count) => {
        if (error?.code === "EAGAIN") {
          setTimeout(next, 5);
          return;
        }
        if (error !== null && error.code !== "EOF") return finish(null);
        if (count === 0 || error !== null) return finish(Buffer.concat(parts));
        parts.push(chunk.subarray(0, count));
        size += count;
        if (size > limit) return finish(null);
        // Only a last byte that can end an object is worth a try at parsing.
        if (count < chunk.length && chunk[count - 1] === 0x7d && complete(parts)) return finish(Buffer.concat(parts));
        next();
      });
    };
    next();
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
