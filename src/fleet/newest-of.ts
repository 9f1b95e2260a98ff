// What the keys of a store hold. The server goes on telling news while it lists, so of one key several entries may come, the newest last.
import type { KV, KvEntry } from "@nats-io/kv";

type Store = Pick<KV, "history" | "status">;

/**
 * One value for each key that holds one. What `read` makes null of is left out. The list is over when every key was told of: what
 * the server counts as left to tell never comes to nothing when a key is written between its count and its list.
 */
export async function newestOf<T>(kv: Store, read: (entry: KvEntry) => T | null): Promise<T[]> {
  const found = new Map<string, T>();
  const told = new Set<string>();
  let size = await sizeOf(kv);
  for await (const entry of await kv.history({ key: ">" })) {
    const value = entry.operation === "PUT" ? read(entry) : null;
    if (value === null) found.delete(entry.key);
    else found.set(entry.key, value);
    told.add(entry.key);
    // Some may be new since, and of those that are gone nothing is told.
    const isLast = entry.revision === size.last && told.size < size.keys;
    if (isLast || entry.revision > size.last) size = await sizeOf(kv);
    if (told.size >= size.keys) break;
  }
  return [...found.values()];
}

/** How many keys there are, those that were deleted included, and the number of what was written last. */
async function sizeOf(kv: Store): Promise<{ readonly keys: number; readonly last: number }> {
  // A server that does not say it, as of an empty store, ends the list itself.
  const { num_subjects: keys = Number.POSITIVE_INFINITY, last_seq: last } = (await kv.status()).streamInfo.state;
  return { keys, last };
}
