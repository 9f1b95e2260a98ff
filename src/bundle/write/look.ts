// Everything that is packed is hashed on its way, and shown to whoever wants to see it: at once and here, or on other threads.
import { createHash, type Hash, hash } from "node:crypto";

/** Sees every byte of a file on its way into the bundle. `chunk` must copy what it keeps; `last` says that none follow. */
export interface Observer {
  chunk(bytes: Buffer, last?: boolean): void;
  end(): void;
}

/** Where a file, or a part of one, lies in a block. */
export interface Piece {
  /** Counted from 0, in the order files are packed. */
  readonly file: number;
  readonly path: string;
  readonly start: number;
  readonly length: number;
  readonly first: boolean;
  readonly last: boolean;
}

export interface Looker {
  /** Blocks must be memory that other threads see too. */
  readonly isApart: boolean;
  /** A file's next bytes lie in the block that is being filled. */
  see(block: Buffer, piece: Piece): void;
  /** The block is full; it may be used again only after `release`. Resolves when another block may come. */
  turn(block: Buffer, release: () => void): Promise<void>;
  /** `sha256:<hex>` of every file by its number, once all were looked at. */
  hashes(): Promise<readonly string[]>;
}

/** Looks at once, on this thread. */
export function lookHere(observe: (path: string) => Observer | null = () => null): Looker {
  const found: string[] = [];
  return {
    isApart: false,
    see: pieceByPiece(observe, (file, digest) => {
      found[file] = digest;
    }),
    turn: async (_block, release) => release(),
    hashes: async () => found,
  };
}

/** Takes the pieces of files in their order, one file after another. */
export function pieceByPiece(
  observe: (path: string) => Observer | null,
  done: (file: number, digest: string) => void,
): (block: Buffer, piece: Piece) => void {
  let digest: Hash | null = null;
  let observer: Observer | null = null;
  return (block, { file, path, start, length, first, last }) => {
    const bytes = block.subarray(start, start + length);
    if (first) observer = observe(path);
    observer?.chunk(bytes, last);
    // A file in one piece takes the short way.
    if (first && last) done(file, `sha256:${hash("sha256", bytes, "hex")}`);
    else {
      digest = (digest ?? createHash("sha256")).update(bytes);
      if (last) done(file, `sha256:${digest.digest("hex")}`);
    }
    if (!last) return;
    observer?.end();
    observer = null;
    digest = null;
  };
}
