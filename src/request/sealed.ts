// Sealed bundles at the edge of pack and unpack. What is opened stays in memory; it reaches the disk only as the unpacked folder.
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import type { Seal } from "../bundle/index.js";
import { fromSystemError, NutError } from "../errors.js";
import type { Context } from "../operation.js";
import { isSealed, openSealed, SEALED_MAX_BYTES, sealBundle } from "../vault/index.js";
import { findPeerIdentity } from "./keys.js";

const MAGIC_BYTES = 4;
/** Above the limit by more than any header, so that one read too many tells. */
const MAX_FILE_BYTES = SEALED_MAX_BYTES + 1024;
const PIECE_BYTES = 1 << 20;

/**
 * The bundle itself, whether it was sealed or not. A sealed one is opened with the identity; anything else passes untouched.
 * Throws BUNDLE_SEALED when there is no identity or it does not fit.
 */
export async function unsealed(
  source: string | Readable,
  identity: string | undefined,
  context: Context,
): Promise<string | Readable> {
  if (typeof source === "string") {
    if (!isSealed(firstBytes(source))) return source;
    if (statSync(source).size > MAX_FILE_BYTES) throw tooLarge();
    return open(readFileSync(source), identity, context);
  }
  const parts: Buffer[] = [];
  let length = 0;
  const pieces = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const pull = async () => {
    const { value, done } = await pieces.next();
    if (done === true) return false;
    parts.push(Buffer.from(value));
    length += parts.at(-1)!.length;
    return true;
  };
  while (length < MAGIC_BYTES && (await pull()));
  if (!isSealed(Buffer.concat(parts))) return Readable.from(chain(parts, pieces), { objectMode: false });
  while (await pull()) if (length > MAX_FILE_BYTES) throw tooLarge();
  return open(Buffer.concat(parts), identity, context);
}

/** Seals for one peer in memory: the bundle in clear never lies on the disk under any name. */
export function sealFor(peer: Uint8Array): Seal {
  return (pieces, bytes) => {
    if (bytes > SEALED_MAX_BYTES) throw tooLarge();
    return sealBundle(Buffer.concat([...pieces]), peer);
  };
}

function open(file: Buffer, identity: string | undefined, context: Context): Readable {
  const peer = findPeerIdentity(identity, context);
  if (peer === null) {
    throw new NutError(
      "BUNDLE_SEALED",
      "this bundle is sealed for one peer, and there is no identity to open it with",
      {
        hint: "nutshell unpack <bundle> --identity <identity.key>",
      },
    );
  }
  const plain = openSealed(file, peer);
  const bytes = Buffer.from(plain.buffer, plain.byteOffset, plain.length);
  return Readable.from(slices(bytes), { objectMode: false });
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

async function* chain(first: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

function firstBytes(path: string): Buffer {
  let file: number;
  try {
    // Whatever is not a regular file is left to the bundle's own reader, which names it.
    if (!statSync(path).isFile()) return Buffer.alloc(0);
    file = openSync(path, "r");
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
  try {
    const bytes = Buffer.alloc(MAGIC_BYTES);
    return bytes.subarray(0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

function tooLarge(): NutError {
  return new NutError("BUNDLE_LIMIT", "a sealed bundle is held in memory, so it may not exceed 256 MB", {
    data: { limit: SEALED_MAX_BYTES },
  });
}
