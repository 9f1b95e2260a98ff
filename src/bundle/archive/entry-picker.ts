import { createHash } from "node:crypto";
import type { Limits } from "./limits.js";
import { type ArchiveEntry, TarReader } from "./tar-reader.js";

/** Takes one file's bytes out of an archive that passes by. */
export class EntryPicker {
  done = false;
  private found: ArchiveEntry | null = null;
  private ready: Buffer[] = [];
  private readonly digest = createHash("sha256");
  private readonly reader: TarReader;

  constructor(path: string, limits: Limits) {
    this.reader = new TarReader((entry) => {
      if (entry.path !== path || entry.kind !== "file") return null;
      this.found = entry;
      return {
        chunk: (bytes) => {
          this.digest.update(bytes);
          this.ready.push(Buffer.from(bytes));
        },
        end: () => {
          this.done = true;
        },
      };
    }, limits);
  }

  /** What of the file came with this piece. */
  push(piece: Buffer): Buffer[] {
    this.reader.push(piece);
    const ready = this.ready;
    this.ready = [];
    return ready;
  }

  /** The file's path and hash, once `done`. */
  entry(): { path: string; hash: string } {
    return { path: this.found!.path, hash: `sha256:${this.digest.digest("hex")}` };
  }
}
