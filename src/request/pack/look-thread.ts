// A thread that hashes what is packed and scans it for leaks: a program of its own, started by look-apart.ts. What it is given lies in
// memory that both threads see, and it answers block by block, in order.
import { parentPort, workerData } from "node:worker_threads";
import { type Piece, pieceByPiece } from "../../bundle/index.js";
import { type Leak, leakScanner, type Secret } from "../../vault/index.js";

/** What a thread is told: a block with the pieces that are this thread's; or text to scan before it tells all it found. */
export type ToThread =
  | { readonly block: SharedArrayBuffer; readonly pieces: readonly SharedPiece[] }
  | { readonly last: readonly { readonly path: string; readonly text: string }[] };

/** A piece of a file, and whether it is scanned too. */
export interface SharedPiece extends Piece {
  readonly scanned: boolean;
}

/** What it answers: the hashes of files that ended in the block; or everything found. */
export type FromThread =
  | { readonly hashes: readonly (readonly [file: number, digest: string])[] }
  | { readonly leaks: readonly Leak[] };

export interface ThreadData {
  readonly knownValues: readonly Secret[];
}

const { knownValues } = workerData as ThreadData;
const scanner = await leakScanner({ knownValues });
let hashes: [number, string][] = [];
let isScanned = false;
const look = pieceByPiece(
  (path) => (isScanned ? scanner.observe(path) : null),
  (file, digest) => hashes.push([file, digest]),
);

const answer = (message: FromThread) => parentPort!.postMessage(message);

parentPort!.on("message", (message: ToThread) => {
  if ("last" in message) {
    for (const { path, text } of message.last) scanner.scan(path, Buffer.from(text));
    return answer({ leaks: scanner.leaks() });
  }
  const block = Buffer.from(message.block);
  for (const piece of message.pieces) {
    isScanned = piece.scanned;
    look(block, piece);
  }
  answer({ hashes });
  hashes = [];
});
