// What a run leaves in its own process: nothing that would keep it alive, and nobody who still works, however it ends.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { loadCatalog } from "../../src/catalog/index.js";
import { helloRequest, scratch, sweep, world } from "./scripted.js";

let root: string;
beforeEach(() => {
  root = scratch();
});
afterEach(() => {
  vi.restoreAllMocks();
  sweep();
});

/** Intervals that were set from now on and not cleared yet. */
function intervals(): () => unknown[] {
  const set = vi.spyOn(globalThis, "setInterval");
  const clear = vi.spyOn(globalThis, "clearInterval");
  return () => {
    expect(set).toHaveBeenCalled();
    const cleared = new Set(clear.mock.calls.map(([timer]) => timer));
    return set.mock.results.map(({ value }) => value).filter((timer) => !cleared.has(timer));
  };
}

describe("a run that fails", () => {
  it("because it cannot be scheduled leaves no timer behind", async () => {
    helloRequest(root);
    const w = await world({ root, agent: () => new Promise(() => {}), budget: ["agent=100ms"] });
    await w.go();
    const left = intervals();
    const catalog = { ...(await loadCatalog()), agents: [] };
    await expect(w.go(null, { catalog, budget: ["agent=1h"] })).rejects.toThrow('there is no role "engineer"');
    expect(left()).toEqual([]);
  });

  it("because its listener throws waits for the agents it started, and starts no other", async () => {
    helloRequest(root);
    let [working, started] = [0, 0];
    const w = await world({
      root,
      agent: async ({ signal }) => {
        working += 1;
        started += 1;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        working -= 1;
        return "RESULT: done";
      },
      progress: ({ type }) => {
        if (type === "status" && working > 0) throw new Error("the listener is gone");
      },
    });
    const left = intervals();
    await expect(w.go()).rejects.toThrow("the listener is gone");
    expect({ working, started, left: left() }).toEqual({ working: 0, started: 1, left: [] });
  });

  it("before its first agent starts none", async () => {
    helloRequest(root);
    const w = await world({
      root,
      agent: () => "RESULT: done",
      progress: ({ type }) => {
        if (type === "status") throw new Error("the listener is gone");
      },
    });
    await expect(w.go()).rejects.toThrow("the listener is gone");
    expect(w.started).toEqual([]);
  });
});
