// The digest of a large file, made on a thread of its own: the thread that sends it has enough to do.
import { Worker } from "node:worker_threads";
import { NutError } from "../errors.js";

/** Reads with calls that wait, which cost least. As text, because a program in a single file has no other to start. */
const CODE = `
  const { createHash } = require("node:crypto");
  const { openSync, readSync } = require("node:fs");
  const { parentPort, workerData: { path, size } } = require("node:worker_threads");
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafeSlow(1024 * 1024);
  const file = openSync(path, "r");
  let at = 0;
  for (let got = 1; at < size && got > 0; at += got) {
    got = readSync(file, piece, 0, Math.min(piece.length, size - at), at);
    hash.update(piece.subarray(0, got));
  }
  parentPort.postMessage(at === size ? hash.digest("hex") : null);
`;

/** Throws SOURCE_CHANGED where the file ends before, and the signal's reason when nobody waits for it any more. */
export function hashApart(path: string, size: number, signal?: AbortSignal): Promise<string> {
  const worker = new Worker(CODE, { eval: true, workerData: { path, size } });
  return new Promise((resolve, reject) => {
    const stop = () => {
      void worker.terminate();
      reject(signal!.reason);
    };
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
    worker.once("exit", () => signal?.removeEventListener("abort", stop));
    worker.once("error", reject);
    worker.once("message", (hex: string | null) => {
      if (hex !== null) return resolve(`sha256:${hex}`);
      reject(
        new NutError("SOURCE_CHANGED", `${path} became shorter`, { hint: "run the command again", data: { path } }),
      );
    });
  });
}
