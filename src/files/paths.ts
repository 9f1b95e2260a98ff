// Paths with `/`, as bundles and trees write them.

/** Order of entries: by bytes of UTF-8, the same on every machine. */
export function byBytes(a: string, b: string): number {
  if (a === b) return 0;
  // UTF-16 order differs from UTF-8 order only where surrogates meet the top of the basic plane.
  if (HIGH.test(a) && HIGH.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}
const HIGH = /[\ud800-\uffff]/;

/** In place. Where no path has such a letter, the engine's own order is the same, and quicker. */
export function sortByBytes(paths: string[]): string[] {
  return paths.some((path) => HIGH.test(path)) ? paths.sort(byBytes) : paths.sort();
}

/** Every folder that one of the paths lies in, however deep. */
export function foldersAbove(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
      const folder = path.slice(0, slash);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}
