// Files as they are unpacked: each made anew, never through what already lies there. Knows the disk and nothing of bundles, so that a
// thread can do it as well (write-thread.ts).
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";

/** Takes what is unpacked in its order. One file is open at a time. */
export interface FileWriter {
  /** Makes a folder in one that is there. */
  folder(path: string): void;
  begin(path: string, executable: boolean): void;
  /** Keeps nothing of the bytes. */
  write(bytes: Uint8Array): void;
  end(): void;
}

/** Why something could not be written: the path and the system's own error. */
export class WriteFailure extends Error {
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(`${path} could not be written`, { cause });
    this.path = path;
  }
}

/** Writes below `root`, at once. Throws WriteFailure. */
export class FilesHere implements FileWriter {
  private readonly root: string;
  private path = "";
  private file = -1;

  constructor(root: string) {
    this.root = root;
  }

  folder(path: string): void {
    try {
      mkdirSync(`${this.root}/${path}`);
    } catch (error) {
      throw new WriteFailure(path, error);
    }
  }

  begin(path: string, executable: boolean): void {
    this.path = path;
    try {
      this.file = openSync(`${this.root}/${path}`, "wx", executable ? 0o755 : 0o644);
    } catch (error) {
      throw new WriteFailure(path, error);
    }
  }

  write(bytes: Uint8Array): void {
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at);
    } catch (error) {
      throw new WriteFailure(this.path, error);
    }
  }

  end(): void {
    const file = this.file;
    this.file = -1;
    try {
      closeSync(file);
    } catch (error) {
      throw new WriteFailure(this.path, error);
    }
  }

  /** Lets go of a file that was not ended. */
  close(): void {
    if (this.file >= 0) closeSync(this.file);
    this.file = -1;
  }
}
