import { describe, expect, it } from "vitest";
import { MarketTask, readTags, readTime } from "../schema/market.js";
import { parseAddress } from "./address.js";
import { checkId, sameHash } from "./client.js";
import { deliveryRoute } from "./delivery-route.js";
import { costOf, preflight, resolveReward } from "./preflight.js";
import { readRefusal } from "./refusal.js";

const line = (words: string) => `nutshell ${words}`;

describe("parseAddress", () => {
  it.each([
    [undefined, "http://127.0.0.1:3998"],
    ["localhost", "http://localhost:3998"],
    ["127.0.0.1:4001", "http://127.0.0.1:4001"],
    ["http://10.0.0.1", "http://10.0.0.1:3998"],
    ["https://example.org:8443/some/path", "https://example.org:8443"],
    ["http://example.org:80", "http://example.org"],
    ["[::1]:3998", "http://[::1]:3998"],
  ])("reads %s", (text, origin) => {
    expect(parseAddress(text).origin).toBe(origin);
  });

  it.each(["", "ftp://host", "http://user:pass@host", "http://", "a b"])("refuses %j", (text) => {
    expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: "MARKET_BAD_ADDRESS" }));
  });
});

describe("reward", () => {
  it("takes the flag, then the manifest, then 100", () => {
    expect(resolveReward("500", { reward: 200 })).toBe(500);
    expect(resolveReward(undefined, { reward: 200 })).toBe(200);
    expect(resolveReward(undefined, { reward: { amount: 300, currency: "shells" } })).toBe(300);
    expect(resolveReward(undefined, { reward: { currency: "Shell" } })).toBe(100);
    expect(resolveReward(undefined, undefined)).toBe(100);
    expect(resolveReward("0", undefined)).toBe(0);
  });

  it.each([["99"], ["1"], ["-5"], ["150.5"], ["1e3"], ["ten"], [""], ["1000000"]])("refuses --reward %s", (flag) => {
    expect(() => resolveReward(flag, undefined)).toThrow(expect.objectContaining({ code: "MARKET_REWARD" }));
  });

  it("refuses another currency and a fractional manifest amount", () => {
    expect(() => resolveReward(undefined, { reward: { amount: 100, currency: "usd" } })).toThrow(/shells only/);
    expect(() => resolveReward(undefined, { reward: 100.5 })).toThrow(/whole number/);
  });

  it("counts the fee as the daemon does", () => {
    expect([100, 150, 500].map((reward) => costOf(reward).total)).toEqual([105, 157, 525]);
    expect(costOf(0)).toEqual({ reward: 0, fee: 0, frozen: 1, total: 1 });
  });
});

describe("preflight", () => {
  const facts = { cost: costOf(500), balance: 525, bytes: 1000, now: new Date("2026-01-01T00:00:00Z"), dir: ".", line };
  const codes = (changes: object) =>
    preflight({ ...facts, ...changes })
      .filter(({ severity }) => severity === "error")
      .map(({ code }) => code);

  it("lets pass what the daemon would take, to the shell", () => {
    expect(codes({})).toEqual([]);
    expect(codes({ balance: 524 })).toEqual(["balance_too_low"]);
    expect(codes({ bytes: 50 * 1024 * 1024 + 1 })).toEqual(["bundle_too_large"]);
    expect(codes({ expiresAt: "2025-12-31T00:00:00Z" })).toEqual(["deadline_passed"]);
  });

  it("says that a reward of 0 costs 1", () => {
    const words = preflight({ ...facts, cost: costOf(0) }).map(({ message }) => message);
    expect(words.join("\n")).toContain("reward 0 costs 1 shell");
  });
});

describe("what a daemon sends", () => {
  it.each([
    ['["a","b"]', ["a", "b"]],
    ["a, b", ["a", "b"]],
    ["", []],
    ["null", []],
    [["a", 1], ["a"]],
    ["[broken", []],
    [null, []],
  ])("reads tags %j", (value, tags) => {
    expect(readTags(value)).toEqual(tags);
  });

  it("reads both time formats as UTC", () => {
    expect(readTime("2026-03-14 10:00:00")).toBe("2026-03-14T10:00:00.000Z");
    expect(readTime("2026-03-14T10:00:00Z")).toBe("2026-03-14T10:00:00.000Z");
    expect(readTime("soon")).toBe("soon");
  });

  it("reads a task in an envelope and flat", () => {
    expect(MarketTask.parse({ task: { id: "x", title: "T" }, milestone_reward: 5 })).toMatchObject({
      id: "x",
      title: "T",
    });
    expect(MarketTask.parse({ id: "x", title: "T" })).toMatchObject({ id: "x", title: "T", tags: [], reward: 0 });
    expect(MarketTask.safeParse({ title: "T" }).success).toBe(false);
  });

  it("reads all three error shapes, broken JSON included", () => {
    const read = (text: string) => readRefusal({ status: 400, body: Buffer.from(text) });
    expect(read('{"error":"reward_too_low","message":"Minimum"}')).toMatchObject({
      code: "reward_too_low",
      message: "Minimum",
    });
    expect(read('{"error":"task not found"}\n')).toMatchObject({ code: "", message: "task not found" });
    expect(read('{"error":"open "x": no"}')).toMatchObject({ message: 'open "x": no' });
    expect(read("EOF\n").message).toBe("EOF");
    expect(read("").message).toBe("status 400");
  });

  it("compares hashes with or without a prefix", () => {
    const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    expect(sameHash(empty, Buffer.alloc(0))).toBe(true);
    expect(sameHash(`sha256:${empty.toUpperCase()}`, Buffer.alloc(0))).toBe(true);
    expect(sameHash(empty, Buffer.from("x"))).toBe(false);
  });

  it.each(["a/b", "..", "", "a b", "x".repeat(129), "é"])("refuses the id %j", (id) => {
    expect(() => checkId(id)).toThrow(expect.objectContaining({ code: "MARKET_BAD_ID" }));
  });
});

describe("deliveryRoute", () => {
  const task = (fields: object) =>
    MarketTask.parse({ id: "t", author_id: "author", mode: "simple", status: "open", ...fields });
  const bid = { id: "b", task_id: "t", bidder_id: "me", bidder_name: "", amount: 0, message: "", created_at: "" };
  const route = (fields: object, bids: (typeof bid)[] = []) =>
    deliveryRoute({ task: task(fields), me: "me", bids, hash: "sha256:abc", line });

  it.each([
    [{}, [], "claim"],
    [{ mode: "" }, [], "claim"],
    [{ mode: "auction" }, [bid], "work"],
    [{ mode: "auction" }, [], "refuse"],
    [{ status: "assigned", assigned_to: "me" }, [], "deliver"],
    [{ status: "assigned", assigned_to: "other" }, [], "refuse"],
    [{ status: "submitted", assigned_to: "me", result: "bundle sha256:abc" }, [], "done"],
    [{ status: "approved", assigned_to: "me", result: "bundle sha256:abc" }, [], "done"],
    [{ status: "submitted", assigned_to: "me", result: "other" }, [], "refuse"],
    [{ author_id: "me" }, [], "refuse"],
    [{ target_peer: "other" }, [], "refuse"],
    [{ target_peer: "me" }, [], "claim"],
    [{ status: "rejected" }, [], "refuse"],
    [{ status: "cancelled" }, [], "refuse"],
    [{ status: "settled" }, [], "refuse"],
    [{ status: "paused" }, [], "refuse"],
  ])("%j with bids %j → %s", (fields, bids, kind) => {
    expect(route(fields, bids as (typeof bid)[]).kind).toBe(kind);
  });
});
