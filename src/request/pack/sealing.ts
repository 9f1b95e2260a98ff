// Sealed bundles at the edge of pack and unpack. What is opened stays in memory; it reaches the disk only as the unpacked folder.
import { Readable } from "node:stream";
import type { Seal } from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import { openSealed, parsePeer, peerIdOf, SEALED_MAX_BYTES, sealBundle } from "../../vault/index.js";
import { peerIdentities } from "../vault/keys.js";
import type { Where } from "./sealed.js";

const PIECE_BYTES = 1 << 20;

/** Seals for one peer in memory: the bundle in clear never lies on the disk under any name. Throws PEER_INVALID. */
export function sealFor(peer: string): Seal {
  const key = parsePeer(peer);
  return (pieces, bytes) => {
    if (bytes > SEALED_MAX_BYTES) throw tooLarge();
    const bundle = Buffer.allocUnsafeSlow(bytes);
    let at = 0;
    for (const piece of pieces) at += piece.copy(bundle, at);
    return sealBundle(bundle, key);
  };
}

/** A peer as everybody writes it: the peer id, whichever way it was typed. */
export const peerName = (peer: string): string => peerIdOf(parsePeer(peer));

export interface Opening {
  readonly identity: readonly string[];
  /** The file, as the refusal names it; null for a stream. */
  readonly name: string | null;
}

/** Throws BUNDLE_SEALED when there is no key or none fits. */
export function openSealedFile(file: Buffer, { identity, name }: Opening, context: Where): Readable {
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

export function tooLarge(): NutError {
  return new NutError("BUNDLE_LIMIT", "a sealed bundle is held in memory, so it may not exceed 256 MB", {
    data: { limit: SEALED_MAX_BYTES },
  });
}
