// Bundles as the other Nutshell v0.2.0 tool, which is written in Go, puts them on disk. Written here byte by byte from the
// contract, with none of our own code, so that a clean clone can test that bundles travel.
import { createHash, createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from "node:crypto";
import { gzipSync } from "node:zlib";
import { hsalsa, xsalsa20poly1305 } from "@noble/ciphers/salsa.js";

export type Files = Readonly<Record<string, string>>;

const sha256 = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** Its JSON: two spaces, no line end, and what a page could take for markup written as an escape. */
export function goJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * The manifest it packs: what the author wrote, empty objects where nothing was said, and a row for the manifest itself,
 * with the size and hash it had before it was packed.
 */
function packedManifest({ extensions, ...author }: Readonly<Record<string, unknown>>, files: Files): string {
  const own = `${JSON.stringify({ ...author, extensions }, null, 2)}\n`;
  const tree = Object.entries({ ...files, "nutshell.json": own })
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, content]) => {
      const bytes = Buffer.from(content);
      return { path, size: bytes.length, hash: sha256(bytes) };
    });
  const total = tree.reduce((sum, { size }) => sum + size, 0);
  const { nutshell_version, bundle_type, id, created_at = "", task = { title: "" }, ...rest } = author;
  return goJson({
    ...{ nutshell_version, bundle_type, id, created_at, task, tags: {}, publisher: {}, context: {} },
    ...rest,
    files: { total_count: tree.length, total_size_bytes: total, tree },
    compression: { algorithm: "gzip", original_size_bytes: total },
    ...(extensions === undefined ? {} : { extensions }),
  });
}

/** The whole `.nut`: one gzip member by Go's compressor, plain ustar, the manifest first. */
export function goBundle(author: Readonly<Record<string, unknown>>, files: Files): Buffer {
  const rest = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
  const entries = [["nutshell.json", packedManifest(author, files)] as const, ...rest];
  const tar = Buffer.concat([...entries.map(([name, text]) => tarEntry(name, text)), Buffer.alloc(1024)]);
  const gzip = gzipSync(tar);
  gzip[8] = 0; // It does not say how hard it tried,
  gzip[9] = 0xff; // nor on which system.
  return Buffer.concat([Buffer.from("NUT\x01", "latin1"), gzip]);
}

function tarEntry(name: string, text: string): Buffer {
  const data = Buffer.from(text);
  const header = Buffer.alloc(512);
  header.write(name, 0);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  header.write(octal(0o644, 7) + octal(0, 7) + octal(0, 7) + octal(data.length, 11) + octal(0, 11), 100);
  header.write("        0", 148);
  header.write("ustar\u000000", 257);
  header.write(octal(0, 7) + octal(0, 7), 329);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, 148);
  return Buffer.concat([header, data, Buffer.alloc((512 - (data.length % 512)) % 512)]);
}

export interface Peer {
  /** As `--peer` takes it. */
  readonly hex: string;
  /** The three forms its key file may have. */
  readonly keyFiles: Readonly<Record<"seed and public key" | "seed" | "libp2p", Buffer>>;
  seal(bundle: Buffer): Buffer;
}

/** A peer made of a seed: its keys by Node, its box by the contract. */
export function peerOf(seed: Buffer): Peer {
  const publicKey = raw(privateKey("ed25519", seed));
  const both = Buffer.concat([seed, publicKey]);
  // Node clamps: the private half of the X25519 key is the beginning of the seed's hash.
  const receiver = privateKey("x25519", createHash("sha512").update(seed).digest().subarray(0, 32));
  return {
    hex: publicKey.toString("hex"),
    keyFiles: {
      "seed and public key": both,
      seed,
      libp2p: Buffer.concat([Buffer.from([0x08, 0x01, 0x12, 0x40]), both]),
    },
    seal: (bundle) => {
      const sender = privateKey("x25519", Buffer.alloc(32, 7));
      const shared = diffieHellman({ privateKey: sender, publicKey: createPublicKey(receiver) });
      const nonce = Buffer.alloc(24, 9);
      const box = xsalsa20poly1305(boxKey(shared), nonce).encrypt(bundle);
      return Buffer.concat([Buffer.from("NUT\x02", "latin1"), raw(sender), nonce, box]);
    },
  };
}

const ALGORITHM = { x25519: 0x6e, ed25519: 0x70 };

function privateKey(kind: keyof typeof ALGORITHM, bytes: Buffer): KeyObject {
  const prefix = Buffer.from([0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, ALGORITHM[kind], 4, 0x22, 4, 0x20]);
  return createPrivateKey({ key: Buffer.concat([prefix, bytes]), format: "der", type: "pkcs8" });
}

/** The 32 bytes of the public half. */
const raw = (key: KeyObject) => createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);

/** NaCl's: the shared secret through HSalsa20. */
function boxKey(shared: Buffer): Uint8Array {
  const words = (bytes: Uint8Array) => new Uint32Array(Uint8Array.from(bytes).buffer);
  const out = new Uint32Array(8);
  hsalsa(words(Buffer.from("expand 32-byte k")), words(shared), new Uint32Array(4), out);
  return new Uint8Array(out.buffer);
}
