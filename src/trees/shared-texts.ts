// Several who work on one request, or on one commit, begin with the same tree. Each is looked at by itself, and what is equal is held
// once: of a hundred thousand files, paths and hashes take more room than all else that is known of them.
import type { TreeEntry } from "./tree.js";

type Entries<T extends TreeEntry> = Map<string, T>;
type Unshared = { -readonly [K in keyof TreeEntry]: TreeEntry[K] } & { readonly stamp?: string };

/** The latest of them, for as long as somebody else holds it. */
let latest: WeakRef<Entries<Unshared>> | null = null;

/** The same entries. When the look before found the same tree, their texts are that look's; without stamps they are that look's whole. */
export function sharingTexts<T extends Unshared>(entries: Entries<T>): Entries<T> {
  const before = latest?.deref();
  const shared = before === undefined || !isSame(before, entries) ? entries : sharedWith(before as Entries<T>, entries);
  latest = new WeakRef<Entries<Unshared>>(shared);
  return shared;
}

/** In the same order, too. */
function isSame(before: Entries<Unshared>, entries: Entries<Unshared>): boolean {
  if (before.size !== entries.size) return false;
  const earlier = before.entries();
  for (const [path, { type, executable, size, hash }] of entries) {
    const [there, one] = earlier.next().value!;
    if (there !== path || one.hash !== hash || one.type !== type) return false;
    if (one.executable !== executable || one.size !== size) return false;
  }
  return true;
}

function sharedWith<T extends Unshared>(before: Entries<T>, entries: Entries<T>): Entries<T> {
  if (!isStamped(before) && !isStamped(entries)) return before;
  const shared: Entries<T> = new Map();
  for (const [path, { hash }] of before) {
    const entry = entries.get(path)!;
    entry.hash = hash;
    shared.set(path, entry);
  }
  return shared;
}

function isStamped(entries: Entries<Unshared>): boolean {
  for (const { stamp } of entries.values()) if (stamp !== undefined) return true;
  return false;
}
