// A thread that hashes what is packed and scans it for leaks: a program of its own, started by look-apart.ts. What it is given lies in
// memory that both threads see, and it answers block by block, in order.
import { parentPort } from "node:worker_threads";
import { type Piece, pieceByPiece } from "../../bundle/index.js";
import { type Leak, type LeakScanner, leakScanner, type Secret } from "../../vault/index.js";

/** What a thread is told: first what to look for, then blocks with the pieces that are its own, and text to scan before it tells all. */
export type ToThread =
  | { readonly knownValues: readonly Secret[] }
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

let scanner: LeakScanner;
/** Loads the rules before anybody says what else to look for. */
let begun: Promise<unknown> = begin([]);
let hashes: [number, string][] = [];
let isScanned = false;
const look = pieceByPiece(
  (path) => (isScanned ? scanner.observe(path) : null),
  (file, digest) => hashes.push([file, digest]),
);

async function begin(knownValues: readonly Secret[]): Promise<void> {
  scanner = await leakScanner({ knownValues });
}

const beginAgain = async (knownValues: readonly Secret[]) => {
  if (knownValues.length > 0) await begin(knownValues);
};

function answerTo(message: Exclude<ToThread, { readonly knownValues: unknown }>): FromThread {
  if ("last" in message) {
    for (const { path, text } of message.last) scanner.scan(path, Buffer.from(text));
    return { leaks: scanner.leaks() };
  }
  const block = Buffer.from(message.block);
  for (const piece of message.pieces) {
    isScanned = piece.scanned;
    look(block, piece);
  }
  const done = hashes;
  hashes = [];
  return { hashes: done };
}

parentPort!.on("message", (message: ToThread) => {
  if ("knownValues" in message) begun = begun.then(() => beginAgain(message.knownValues));
  else begun = begun.then(() => parentPort!.postMessage(answerTo(message)));
});
