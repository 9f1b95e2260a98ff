// Where the files of a bundle are kept between two reads of them: in memory, or in one file on the disk.
import { join } from "node:path";
import { NamelessFile } from "../../files/index.js";
import type { EntrySink } from "../archive/tar-reader.js";

export interface FileStore {
  /** Takes a file's bytes as they come. Files are added one after the other. */
  add(path: string): EntrySink;
  /** A copy of a file's bytes, or null. */
  read(path: string): Buffer | null;
  close(): void;
}

export class MemoryStore implements FileStore {
  readonly #files = new Map<string, Buffer>();

  add(path: string): EntrySink {
    const parts: Buffer[] = [];
    return {
      chunk: (bytes) => parts.push(Buffer.from(bytes)),
      end: () => this.#files.set(path, Buffer.concat(parts)),
    };
  }

  read(path: string): Buffer | null {
    const bytes = this.#files.get(path);
    return bytes === undefined ? null : Buffer.from(bytes);
  }

  close(): void {
    this.#files.clear();
  }
}

export class DiskStore implements FileStore {
  readonly #file: NamelessFile;
  readonly #places = new Map<string, { readonly start: number; readonly length: number }>();

  constructor(folder: string) {
    this.#file = new NamelessFile(join(folder, "nut-files"));
  }

  add(path: string): EntrySink {
    const start = this.#file.bytes;
    return {
      chunk: (bytes) => this.#file.append(bytes),
      end: () => this.#places.set(path, { start, length: this.#file.bytes - start }),
    };
  }

  read(path: string): Buffer | null {
    const place = this.#places.get(path);
    if (place === undefined) return null;
    const bytes = Buffer.alloc(place.length);
    this.#file.read(place.start, bytes);
    return bytes;
  }

  close(): void {
    this.#file.close();
  }
}
