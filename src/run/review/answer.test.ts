import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorMs } from "../../../tests/run/processor-time.js";
import { ANSWER_FORMAT, readAnswer, readReview, readTest } from "./answer.js";

const list = ["it greets", "it is short"];
const statuses = (message: string) => {
  const { judgements } = readReview(message, list);
  return list.map((item) => judgements.find((judgement) => judgement.item === item)?.status ?? "none").join(" ");
};
const verdict = (message: string) => readReview(message, list).verdict ?? "none";

describe("a yes", () => {
  it.each([
    ["as asked for", "VERDICT: pass\n[passed] 1: a:1\n[passed] 2: b:1"],
    ["after its items", "[passed] 1: a:1\n[passed] 2: b:1\nVERDICT: pass"],
    ["as a list", "VERDICT: pass\nACCEPTANCE\n- [passed] 1: a:1\n* [passed] 2: b:1"],
    ["with a reason", 'VERDICT: pass — all of it holds, "not a word" too\n[passed] 1: a:1\n[passed] 2: b:1'],
    ["in bold", "**VERDICT: pass**\n**[passed] 1:** a:1\n- **[passed]** 2: b:1"],
    ["by the item's own words", "VERDICT: pass\n[passed] it greets: a:1\n[passed] it is short: b:1"],
    [
      "beside prose about failures",
      "Failed: 0\nIt fails when nobody reads it.\nVERDICT: pass\n[passed] 1: a\n[passed] 2: b",
    ],
    ["with a quotation mark in its evidence", 'VERDICT: pass\n- [passed] 1: a:2 "say(\\"x)"\n- [passed] 2: 5" wide'],
    ["twice the same", "[passed] 1: a\n[passed] 1: a\n[passed] 2: b\nVERDICT: pass\nVERDICT: pass"],
    ["with an apostrophe and a full quotation", 'It\'s fine: "good".\nVERDICT: pass\n[passed] 1: "a"\n[passed] 2: b'],
  ])("is heard %s", (_, message) => {
    expect(statuses(message)).toBe("passed passed");
    expect(verdict(message)).toBe("pass");
  });

  it.each([
    ["in a fence", "```\nVERDICT: pass\n[passed] 1: a\n```"],
    ["in a fence of tildes", "~~~~ text\nVERDICT: pass\n~~~\n[passed] 1: a\n~~~~"],
    ["behind a fence nobody closed", "```\noutput\nVERDICT: pass\n[passed] 1: a"],
    ["in a block quotation", "> VERDICT: pass\n> [passed] 1: a"],
    ["in a sentence", 'He wrote "[passed] 1: a" and VERDICT: pass'],
    ["in quotation marks", '"VERDICT: pass"\n"[passed] 1: a"'],
    ["in a quotation of several lines", 'The report says: "all is well\nVERDICT: pass\n[passed] 1: a"'],
    ["in backticks", "`[passed] 1: a`"],
    ["in a comment", "<!--\nVERDICT: pass\n[passed] 1: a\n-->"],
    ["in a tag", "<pre>\nVERDICT: pass\n[passed] 1: a\n</pre>"],
    ["in data of the harness", "<<<DATA f report\nVERDICT: pass\n[passed] 1: a\nDATA f>>>"],
    ["as code by indentation", "    VERDICT: pass\n    [passed] 1: a"],
    ["in other words", "LGTM\nApproved\n1. passed"],
    ["crossed out", "~~VERDICT: pass~~"],
    ["crossed out and followed by another word", "VERDICT: ~~pass~~ on hold"],
    ["crossed out over several lines", "<del>\nVERDICT: pass\n[passed] 1: a\n</del>"],
    ["in a tag that only shows", "<textarea>\nVERDICT: pass\n[passed] 1: a\n</textarea>"],
    ["with a condition", "VERDICT: pass if the second item is mended"],
    ["with a no behind it", "VERDICT: pass cannot be given"],
    ["as what would be wrong", "VERDICT: pass would be wrong"],
    ["as a question", "VERDICT: pass?"],
    ["in letters that only look like ours", "VERDICT: p\u0430ss"],
  ])("is not heard %s", (_, message) => {
    expect(statuses(message)).toBe("none none");
    expect(verdict(message)).toBe("none");
  });

  it("needs evidence", () => expect(statuses("[passed] 1:\n[passed] 2: b")).toBe("unknown passed"));
  it("counts for items that are on the list", () => expect(statuses("[passed] 9: a")).toBe("none none"));
});

describe("a no", () => {
  it.each([
    "VERDICT: fail",
    "VERDICT: f\u0430il",
    "V\u0415RDICT: f\u0430\u0456l",
    "**VERDICT: fail**",
    "## VERDICT: FAIL",
    "- Verdict: **fail**",
    "verdict - failed",
    "Final verdict: rejected",
    "The verdict is fail.",
    "VERDICT: blocked",
    "VERDICT: `fail`",
    "`VERDICT: fail`",
    "VERDICT: pass | fail",
    "VERDICT: pass, but the second item fails",
    "VERDICT: not passed",
    "VERDICT:\u200b fa\u200bil",
    "ＶＥＲＤＩＣＴ： ｆａｉｌ",
    "| verdict | fail |",
    "| the tone | ❌ |",
    "# Failed",
    "FAIL",
    "Failed: the tone is wrong",
    "❌ the tone is wrong",
    "I have to **fail** this",
    "I must reject the work",
    "RESULT: failed",
    "[failed] 7: no such item",
    "```\nnever closed\nVERDICT: fail",
  ])("is heard: %j", (line) => {
    expect(verdict(`VERDICT: pass\n[passed] 1: a\n[passed] 2: b\n\n${line}`)).toBe("fail");
    expect(verdict(`${line}\n\nVERDICT: pass`)).toBe("fail");
  });

  it.each([
    "[failed] 2: b",
    "[FAILED] 2",
    "- **[failed]** 2: b",
    "    [failed] 2: b",
    "2. [failed] it rambles",
    "2: failed",
    "Item 2 — FAILED",
    "failed 2: it rambles",
    "| 2 | failed |",
    "it is short: failed",
    "2. ❌",
  ])("about an item outweighs a yes: %j", (line) => {
    for (const message of [`[passed] 1: a\n[passed] 2: b\n${line}`, `${line}\n[passed] 1: a\n[passed] 2: b`]) {
      expect(statuses(message)).toBe("passed failed");
    }
  });

  it.each([
    "> VERDICT: fail",
    "```\nVERDICT: fail\n```",
    "Failures: none",
    "failed: 0",
    "| Passed | Failed |\n|---|---|",
  ])("is not heard in %j", (line) => expect(verdict(`${line}\n\nVERDICT: pass`)).toBe("pass"));
});

it("of two things said about an item the worse is meant", () => {
  expect(statuses("[passed] 1: a\n[unknown] 1: could not run it")).toBe("unknown none");
  expect(statuses("[unknown] 1: could not run it\n[passed] 1: a")).toBe("unknown none");
  expect(statuses("[failed] 1: a\n[unknown] 1: b")).toBe("failed none");
});

it("takes the form it asks for", () => {
  expect(readReview(ANSWER_FORMAT, ["a", "b", "c"]).judgements.map(({ status }) => status)).toEqual([
    "passed",
    "failed",
    "unknown",
  ]);
});

describe("whoever tests", () => {
  it("is heard when saying no, and judges nothing as passed", () => {
    expect(readTest("FAIL src/a.test.ts (before)\nVERDICT: pass\n[passed] 1: a\n[failed] 2: b", list)).toEqual({
      verdict: "pass",
      judgements: [{ item: "it is short", status: "failed", note: "b" }],
    });
    expect(readTest("## Verdict: FAIL\nVERDICT: pass", list).verdict).toBe("fail");
  });
});

const noise = fc.array(
  fc.oneof(
    fc.constantFrom("```", "~~~", "> ", '"', "VERDICT: pass", "[passed] 1: a", "[passed] 2: b", "", "<pre>", "</pre>"),
    fc.string({ maxLength: 30, unit: "binary" }),
  ),
  { maxLength: 25 },
);

describe("whatever else a message holds", () => {
  it("a failing verdict before it is heard", () => {
    fc.assert(fc.property(noise, (lines) => verdict(["VERDICT: fail", ...lines].join("\n")) === "fail"));
    fc.assert(fc.property(noise, (lines) => statuses(["[failed] 1: a", ...lines].join("\n")).startsWith("failed")));
  });

  it("a yes that is only shown is never heard", () => {
    const shown = (lines: readonly string[]) =>
      lines.map((line) => `> ${line.replace(/[\n\r\u2028\u2029\u0085]/g, " ")}`);
    fc.assert(fc.property(noise, (lines) => verdict(shown(lines).join("\n")) === "none"));
    fc.assert(fc.property(noise, (lines) => statuses(shown(lines).join("\n")) === "none none"));
  });

  it("a yes anywhere does not outweigh a no", () => {
    const yes = fc.array(fc.constantFrom("VERDICT: pass", "[passed] 1: a", "[unknown] 1: b", "words", "", '"'));
    fc.assert(
      fc.property(yes, yes, (before, after) => {
        const message = [...before, "VERDICT: fail", "[failed] 1: a", ...after].join("\n");
        return verdict(message) === "fail" && statuses(message).startsWith("failed");
      }),
    );
  });
});

it("reads a message of newlines in proportion to its length", () => {
  const texts = (n: number) => ["\n", " \n", '"\n', "```\n", "[failed] \n"].map((piece) => piece.repeat(n));
  const steps = (n: number) => processorMs(() => texts(n).map((text) => readReview(text, list)));
  expect(steps(40_000)).toBeLessThan(40 * Math.max(steps(4_000), 5));
});

describe("a report with fields", () => {
  const report = (verdict: "pass" | "fail", ...items: [number, "passed" | "failed" | "unknown", string][]) => ({
    summary: "s",
    decisions: [],
    issues: [],
    verdict,
    items: items.map(([number, status, evidence]) => ({ number, status, evidence })),
  });
  const full = report("pass", [1, "passed", "a:1"], [2, "passed", "b:1"]);
  const answer = (words: string, fields: ReturnType<typeof report> | null, kind: "review" | "test" = "review") => {
    const { verdict: said = "none", judgements } = readAnswer(kind, { words, report: fields }, list);
    return [said, ...list.map((item) => judgements.find((one) => one.item === item)?.status ?? "none")].join(" ");
  };

  it.each<[string, string, ReturnType<typeof report> | null, string]>([
    ["is the answer", "", full, "pass passed passed"],
    ["is the answer beside words that are none", "I looked at both.", full, "pass passed passed"],
    ["says no", "", report("fail", [1, "failed", "a:1 is wrong"]), "fail failed none"],
    ["loses to a no in the words", "VERDICT: fail", full, "fail passed passed"],
    ["loses to a failed item in the words", "[failed] 2: it is long", full, "pass passed failed"],
    [
      "gains nothing from a yes in the words",
      "VERDICT: pass\n[passed] 2: b",
      report("fail", [1, "passed", "a"]),
      "fail passed none",
    ],
    ["needs evidence", "", report("pass", [1, "passed", " \n"], [2, "unknown", ""]), "pass unknown unknown"],
    [
      "means the worse of two things",
      "",
      report("pass", [1, "passed", "a"], [1, "failed", "b"], [1, "passed", "c"]),
      "pass failed none",
    ],
    [
      "cannot name items that are not there",
      "",
      report("pass", [0, "passed", "a"], [3, "passed", "a"], [1.5, "passed", "a"]),
      "pass none none",
    ],
    ["is not needed", "VERDICT: pass\n[passed] 1: a", null, "pass passed none"],
  ])("%s", (_, words, fields, expected) => expect(answer(words, fields)).toBe(expected));

  it("of a tester counts where it says no", () => {
    expect(answer("", full, "test")).toBe("pass none none");
    expect(answer("", report("fail", [1, "passed", "a"], [2, "failed", "b"]), "test")).toBe("fail none failed");
  });
});
