// Sealed bundles at the edge of pack and unpack. What is opened stays in memory; it reaches the disk only as the unpacked folder.
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import type { Seal } from "../../bundle/index.js";
import { fromSystemError, NutError, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import { isSealed, openSealed, SEALED_MAX_BYTES, sealBundle } from "../../vault/index.js";
import { peerIdentities } from "../vault/keys.js";

const MAGIC_BYTES = 4;
/** Above the limit by more than any header, so that one read too many tells. */
const MAX_FILE_BYTES = SEALED_MAX_BYTES + 1024;
const PIECE_BYTES = 1 << 20;

/**
 * The bundle itself, whether it was sealed or not. A sealed one is opened with the named keys, or with one's own; anything
 * else passes untouched, a folder too. Throws BUNDLE_SEALED when there is no key or none fits.
 */
export async function unsealed<Source extends string | Readable>(
  source: Source,
  identity: readonly string[],
  context: Where,
): Promise<Source | Readable> {
  if (typeof source === "string") {
    if (!isSealedFile(source)) return source;
    if (statSync(source).size > MAX_FILE_BYTES) throw tooLarge();
    return open(readFileSync(source), { identity, name: source }, context);
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
  return open(Buffer.concat(parts), { identity, name: null }, context);
}

/** Whether a path names a sealed bundle. Throws when nothing is there. */
export const isSealedFile = (path: string): boolean => isSealed(firstBytes(path));

/** Seals for one peer in memory: the bundle in clear never lies on the disk under any name. */
export function sealFor(peer: Uint8Array): Seal {
  return (pieces, bytes) => {
    if (bytes > SEALED_MAX_BYTES) throw tooLarge();
    return sealBundle(Buffer.concat([...pieces]), peer);
  };
}

/** Where names of files are looked up, and one's own keys. */
type Where = Pick<Context, "cwd" | "env">;

interface Opening {
  readonly identity: readonly string[];
  /** The file, as the refusal names it; null for a stream. */
  readonly name: string | null;
}

function open(file: Buffer, { identity, name }: Opening, context: Where): Readable {
  const called = name === null ? "this bundle" : name;
  const hint =
    name === null
      ? "name the key it was sealed for: --identity <identity.key>"
      : `nutshell inspect ${shellWord(name)} --identity '<identity.key>'`;
  const peers = peerIdentities(identity, context);
  if (peers.length === 0) {
    const message = `${called} is sealed for one peer, and there is no identity to open it with`;
    throw new NutError("BUNDLE_SEALED", message, { hint });
  }
  for (const peer of peers) {
    try {
      const plain = openSealed(file, peer);
      return Readable.from(slices(Buffer.from(plain.buffer, plain.byteOffset, plain.length)), { objectMode: false });
    } catch (error) {
      if (!(error instanceof NutError) || error.code !== "BUNDLE_SEALED") throw error;
    }
  }
  throw new NutError("BUNDLE_SEALED", `${called} does not open: it is sealed for another peer, or was damaged`, {
    hint,
  });
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
