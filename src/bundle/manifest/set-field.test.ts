import { describe, expect, it } from "vitest";
import type { Manifest } from "../../schema/manifest.js";
import { type SetOptions, setField } from "./set-field.js";

const id = "nut-1";
const base = () =>
  ({ nutshell_version: "0.2.0", bundle_type: "request", id, mine: [1], task: { title: "t" } }) as unknown as Manifest;

function set(field: string, words: string | string[], options?: SetOptions): unknown {
  const manifest = base();
  setField(manifest, field, [words].flat(), options);
  return field.split(".").reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], manifest);
}

describe("setField", () => {
  it("refuses a format that this tool could not open again", () => {
    expect(() => set("nutshell_version", "9.0.0")).toThrow(/writes 0\.2\.0/);
    expect(set("nutshell_version", "0.2.0")).toBe("0.2.0");
  });

  const rows: readonly (readonly [string, string | string[], unknown])[] = [
    ["task.title", "Build, test", "Build, test"],
    ["task.title", "42", "42"],
    ["task.priority", "high", "high"],
    ["tags.skills_required", "go, rest,", ["go", "rest"]],
    ["tags.skills_required", '["a, b","c"]', ["a, b", "c"]],
    ["acceptance.checklist", ["one, two", "three"], ["one, two", "three"]],
    ["harness.context_budget_hint", "0.35", 0.35],
    ["harness.checkpoints", "true", true],
    ["extensions.clawnet.reward.amount", "500", 500],
    ["extensions.clawnet.reward.currency", "shells", "shells"],
    ["extensions.x.on", "false", false],
    ["extensions.x.zip", "007", "007"],
    ["extensions.x.list", "[1,2]", [1, 2]],
    ["tags.custom.gpu", "true", true],
    ["apis.base_urls.staging", "https://example.com", "https://example.com"],
    ["expires_at", "2026-03-21T10:00:00Z", "2026-03-21T10:00:00Z"],
    ["resources.links", '[{"url":"https://example.com"}]', [{ url: "https://example.com" }]],
  ];
  for (const [field, words, value] of rows) {
    it(`types ${field} ${JSON.stringify(words)}`, () => expect(set(field, words)).toEqual(value));
  }

  const refused: readonly (readonly [string, string, string])[] = [
    ["task.priority", "urgent", "one of critical, high, medium, low"],
    ["harness.context_budget_hint", "lots", "a number"],
    ["harness.context_budget_hint", "1.5", "harness.context_budget_hint"],
    ["harness.checkpoints", "yes", "true or false"],
    ["task.titel", "x", "task has title, summary"],
    ["tsak.title", "x", "unknown field tsak.title"],
    ["task", "x", "task is a section with title"],
    ["expires_at", "tomorrow", "expires_at"],
    ["id", "x", "must be nut-"],
    ["task..title", "x", "is not a field"],
    ["extensions.__proto__.x", "1", "is not a field"],
  ];
  for (const [field, word, message] of refused) {
    it(`refuses ${field} ${word}`, () => expect(() => set(field, word)).toThrow(message));
  }

  it("keeps unknown fields and the order of keys", () => {
    const manifest = base();
    setField(manifest, "task.title", ["new"]);
    expect(JSON.stringify(manifest)).toBe(JSON.stringify(base()).replace('"t"', '"new"'));
  });

  it("appends to lists only, and removes fields", () => {
    const manifest = base();
    setField(manifest, "acceptance.checklist", ["one, two"], { append: true });
    setField(manifest, "acceptance.checklist", ["three"], { append: true });
    expect(manifest.acceptance).toEqual({ checklist: ["one, two", "three"] });
    setField(manifest, "acceptance.checklist", [], { unset: true });
    expect(manifest.acceptance).toEqual({});
    expect(() => setField(manifest, "task.title", ["x"], { append: true })).toThrow("not a list");
    expect(() => setField(manifest, "id", [], { unset: true })).toThrow("every bundle needs id");
  });

  it("makes a delivery of a request: a new id that points to the old one, once", () => {
    const manifest = base();
    expect(setField(manifest, "bundle_type", ["delivery"], { newId: () => "nut-2" })).toEqual([
      "bundle_type",
      "id",
      "request_id",
      "parent_id",
    ]);
    expect(manifest).toMatchObject({ bundle_type: "delivery", id: "nut-2", request_id: id, parent_id: id });
    setField(manifest, "bundle_type", ["delivery"]);
    expect(manifest.id).toBe("nut-2");
  });
});
