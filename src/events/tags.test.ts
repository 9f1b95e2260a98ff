import { describe, expect, it } from "vitest";
import { findTags, type TagRule } from "./tags.js";

const RULES: TagRule[] = [
  { id: "plan", type: "skill", skill: "nx-plan", variants: ["auto"] },
  { id: "run", type: "skill", skill: "nx-run", variants: [] },
  { id: "sync", type: "skill", skill: "nx-sync", variants: [] },
  { id: "d", type: "inline_action", handler: "nx_plan_decide", variants: [] },
  { id: "m", type: "inline_action", handler: "memory_store", variants: [] },
  { id: "m:gc", type: "inline_action", handler: "memory_gc", variants: [] },
  { id: "rule", type: "inline_action", handler: "rule_store", variants: ["*"] },
];
const found = (text: string) => findTags(text, RULES).map(({ rule, variant, text: rest }) => [rule.id, variant, rest]);

describe("findTags", () => {
  it.each([
    ["[plan] the cache", [["plan", null, "the cache"]]],
    ["[PLAN:Auto] go", [["plan", "auto", "go"]]],
    ["please [run] now", [["run", null, "now"]]],
    ["(see [run])", [["run", null, ""]]],
    ["[run].", [["run", null, ""]]],
    ["don't [run] what isn't ready", [["run", null, "what isn't ready"]]],
    ['say "hi" [run] "x"', [["run", null, '"x"']]],
    ["[d]: use redis", [["d", null, "use redis"]]],
    ["[d] — use redis", [["d", null, "use redis"]]],
    ["[m:gc]", [["m:gc", "gc", ""]]],
    ["[rule:web-ui] no any", [["rule", "web-ui", "no any"]]],
    ["[rule:größe] messen", [["rule", "größe", "messen"]]],
    ["first line\n[sync]", [["sync", null, ""]]],
    ["- [d] 2: yes", [["d", null, "2: yes"]]],
    ["**[run]** it", [["run", null, "** it"]]],
    [
      "[d] 3: redis [m] lesson one",
      [
        ["d", null, "3: redis"],
        ["m", null, "lesson one"],
      ],
    ],
    [
      "[plan][run]",
      [
        ["plan", null, ""],
        ["run", null, ""],
      ],
    ],
    ["```\n[run]\n```\nthen [plan]", [["plan", null, ""]]],
  ])("sees tags in %j", (text, expected) => expect(found(text)).toEqual(expected));

  it.each([
    "[plan]ning",
    "re[plan]",
    "`[run]`",
    "``a ` [run]``",
    "a[d]",
    "list[m] = 3",
    "\\[run]",
    "![run]",
    "[run](https://example.org)",
    "[run][1]",
    "[d]: https://example.org",
    '"[run]" is a tag',
    "“[run]” is a tag",
    "the tag '[run]' starts it",
    "> [run] she wrote",
    "```\n[run]",
    "~~~sh\n[run]\n~~~",
    "text\n\n    [run]\n",
    "<code>[run]</code>",
    "<!-- [run] -->",
    "<CODE class=x>[run]</Code>",
    "<!-- a <!-- [run] -->",
    "„[run]“ and „[plan]” and «[sync]» and ‘[d] x’",
    "“open “[run]”",
    "[plan:later] x",
    "[rule:] x",
    "[rule:a b] x",
    "[rule:../x] y",
    "[unknown] x",
    "[ ] todo",
    "[x] done",
  ])("leaves %j alone", (text) => expect(found(text)).toEqual([]));

  it.each([
    ["“no end [run]", "run"],
    ["`` one ` [run]", "run"],
    ["<code> never closed [run]", "run"],
    ["<!-- never closed [run]", "run"],
    ["don't [run] what isn't yours", "run"],
  ])("sees a tag behind a quotation that does not end: %j", (text, id) => {
    expect(findTags(text, RULES).map(({ rule }) => rule.id)).toEqual([id]);
  });

  it.each(["`", "“", "«", "„", "‘", "'", '"', "<code>", "<!--", "[", "[d] ", "\n", "`` ` ", "<pre></kbd>", "> "])(
    "reads a megabyte of %j in a moment",
    (pump) => {
      const start = process.cpuUsage();
      findTags(pump.repeat(1_000_000 / pump.length), RULES);
      // A reader that looks for each end anew needs minutes.
      expect(process.cpuUsage(start).user / 1_000).toBeLessThan(10_000);
    },
  );

  it("reads code spans of ever more backquotes in a moment", () => {
    const text = Array.from({ length: 1_400 }, (_, i) => `a${"`".repeat(i + 1)}`).join("");
    const start = process.cpuUsage();
    expect(findTags(`${text} [run]`, RULES)).toHaveLength(1);
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(10_000);
  });
});
