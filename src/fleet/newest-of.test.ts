import type { KV, KvEntry } from "@nats-io/kv";
import { expect, it } from "vitest";
import { newestOf } from "./newest-of.js";

type Told = readonly (readonly [key: string, revision: number, text: string | null])[];

/** A store that is written to while it lists: what it tells, after which it is silent, and what it says of its size each time. */
function store(told: Told, ...sizes: readonly (readonly [keys: number, last: number])[]) {
  const left = [...sizes];
  async function* entries() {
    for (const [key, revision, text] of told)
      yield { key, revision, operation: text === null ? "DEL" : "PUT", string: () => text ?? "" } as const;
    if (sizes[0]![0] > 0) await new Promise(() => {});
  }
  const status = async () => {
    const [num_subjects, last_seq] = left.length > 1 ? left.shift()! : left[0]!;
    return { streamInfo: { state: { num_subjects, last_seq } } };
  };
  return { history: async () => entries(), status } as unknown as Pick<KV, "history" | "status">;
}

const read = (entry: KvEntry) => (entry.string() === "odd" ? null : `${entry.key} ${entry.string()}`);

it("tells of each key once, as it is last, and of none that is gone or cannot be read", async () => {
  const told: Told = [
    ["w1", 1, "a"],
    ["w2", 2, "a"],
    ["w1", 3, "b"],
    ["w3", 4, "a"],
    ["w1", 5, "c"],
    ["w3", 6, null],
    ["w4", 7, "odd"],
  ];
  expect(await newestOf(store(told, [4, 7]), read)).toEqual(["w1 c", "w2 a"]);
  expect(await newestOf(store([], [0, 0]), read)).toEqual([]);
});

it("waits for a key that was written meanwhile although another came, and for none that is gone", async () => {
  const told: Told = [
    ["w1", 1, "a"],
    ["w3", 3, "a"],
    ["w2", 4, "b"],
  ];
  const withNew: Told = [
    ["w1", 1, "a"],
    ["w4", 3, "a"],
    ["w2", 4, "b"],
  ];
  expect(await newestOf(store(withNew, [2, 2], [3, 4]), read)).toEqual(["w1 a", "w4 a", "w2 b"]);
  expect(await newestOf(store(told, [3, 3], [3, 4]), read)).toEqual(["w1 a", "w3 a", "w2 b"]);
  expect(await newestOf(store(told.slice(0, 2), [3, 3], [2, 3]), read)).toEqual(["w1 a", "w3 a"]);
});
