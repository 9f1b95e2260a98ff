import type { KV, KvEntry } from "@nats-io/kv";
import { expect, it } from "vitest";
import { newestOf } from "./newest-of.js";

/** What a server tells that is written to while it lists. */
async function* told(...entries: readonly (readonly [string, string | null])[]) {
  for (const [key, text] of entries)
    yield { key, operation: text === null ? "DEL" : "PUT", string: () => text ?? "" } as const;
}

it("tells of each key once, as it is last, and of none that is gone or cannot be read", async () => {
  const entries = told(["w1", "a"], ["w2", "a"], ["w1", "b"], ["w3", "a"], ["w1", "c"], ["w3", null], ["w4", "odd"]);
  const kv = { history: async () => entries } as unknown as Pick<KV, "history">;
  const read = (entry: KvEntry) => (entry.string() === "odd" ? null : `${entry.key} ${entry.string()}`);
  expect(await newestOf(kv, read)).toEqual(["w1 c", "w2 a"]);
});
