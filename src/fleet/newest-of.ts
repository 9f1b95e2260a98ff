// What the keys of a store hold. The server goes on telling news while it lists, so of one key several entries may come, the newest last.
import type { KV, KvEntry } from "@nats-io/kv";

/** One value for each key that holds one. What `read` makes null of is left out. */
export async function newestOf<T>(kv: Pick<KV, "history">, read: (entry: KvEntry) => T | null): Promise<T[]> {
  const found = new Map<string, T>();
  for await (const entry of await kv.history({ key: ">" })) {
    const value = entry.operation === "PUT" ? read(entry) : null;
    if (value === null) found.delete(entry.key);
    else found.set(entry.key, value);
  }
  return [...found.values()];
}
