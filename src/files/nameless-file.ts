// A file without a name, so that even a kill leaves nothing: it is unlinked as soon as it is open.
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { fromSystemError, NutError } from "../errors.js";
import { missingFolder, temporaryName } from "./atomic-write.js";

export class NamelessFile {
  /** Bytes written so far. */
  bytes = 0;
  readonly #file: number;
  readonly #name: string;
  #isOpen = true;

  /** Lies in the folder of `path`, which need not exist itself. */
  constructor(path: string) {
    this.#name = temporaryName(path);
    try {
      this.#file = openSync(this.#name, "wx+", 0o600);
      this.#unlink();
    } catch (error) {
      throw missingFolder(error, path) ?? fromSystemError(error, path) ?? error;
    }
  }

  append(bytes: Uint8Array): void {
    try {
      for (let at = 0; at < bytes.length; ) {
        at += writeSync(this.#file, bytes, at, bytes.length - at, this.bytes + at);
      }
    } catch (error) {
      throw fromSystemError(error, this.#name) ?? error;
    }
    this.bytes += bytes.length;
  }

  /** Fills `target` with the bytes from `start` on. */
  read(start: number, target: Uint8Array): void {
    for (let at = 0; at < target.length; ) {
      const length = readSync(this.#file, target, at, target.length - at, start + at);
      if (length === 0) throw new NutError("DISK_FULL", `${this.#name}: not everything could be written`);
      at += length;
    }
  }

  /** Safe to call again. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#file);
    this.#unlink();
  }

  #unlink(): void {
    try {
      rmSync(this.#name, { force: true });
    } catch {
      // Windows keeps the name of an open file; `close` tries again.
    }
  }
}
