// Folders of a tree that is being written.
import { lstatSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** The folders of a tree that we write, each looked at once: that it is one, and no link to somewhere. */
export class Folders {
  readonly #root: string;
  readonly #made = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Where a path is, the folders above it made. */
  at(path: string): string {
    const slash = path.lastIndexOf("/");
    if (slash > 0) this.make(path.slice(0, slash));
    return join(this.#root, path);
  }

  /** The same, with nothing there any more. */
  free(path: string): string {
    const place = this.at(path);
    const stat = lstatSync(place, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) this.#made.clear();
    if (stat !== undefined) rmSync(place, { recursive: true });
    return place;
  }

  make(path: string): void {
    if (this.#made.has(path)) return;
    const place = this.at(path);
    const stat = lstatSync(place, { throwIfNoEntry: false });
    if (stat?.isDirectory() !== true) {
      if (stat !== undefined) rmSync(place);
      mkdirSync(place);
    }
    this.#made.add(path);
  }
}
