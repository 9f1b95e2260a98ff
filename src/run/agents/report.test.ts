import { describe, expect, it } from "vitest";
import { parseReport, reportSchema } from "../../schema/report.js";
import { readReport, reportText } from "./report.js";

const WORK = {
  summary: "It greets.",
  decisions: [{ decision: "one\nline", reason: "" }],
  issues: ["", " left\tover "],
};
const JUDGED = {
  ...WORK,
  verdict: "fail" as const,
  items: [{ number: 1, status: "failed" as const, evidence: "a:1\nno" }],
};

describe("a report with fields", () => {
  it("is recorded instead of what the words say", () => {
    const words = "DECISION: another because why\nISSUE: none";
    expect(readReport(words, WORK)).toEqual({ decisions: [{ decision: "one line" }], issues: ["left over"] });
    expect(readReport(words)).toEqual({ decisions: [{ decision: "another", reason: "why" }], issues: ["none"] });
  });

  it("is read by people as lines, after the words", () => {
    expect(reportText("Done.", JUDGED)).toBe(
      "Done.\n\nIt greets.\n\nDECISION: one line\nISSUE: left over\nVERDICT: fail\n[failed] 1: a:1 no",
    );
    expect(reportText("Done.", null)).toBe("Done.");
  });

  it.each([
    ["of another kind", "review", WORK],
    ["with a field too many", "work", JUDGED],
    ["with a field of another type", "work", { ...WORK, summary: 3 }],
    ["that is a list", "work", [WORK]],
    ["that is nothing", "work", null],
  ] as const)("is none %s", (_, kind, value) => expect(parseReport(kind, value)).toBeNull());

  it("has a schema that vendors take: all fields needed, no others, no bounds", () => {
    const walk = (node: unknown): void => {
      if (typeof node !== "object" || node === null) return;
      const { type, properties, required, additionalProperties } = node as Record<string, unknown>;
      if (type === "object") {
        expect(required).toEqual(Object.keys(properties as object));
        expect(additionalProperties).toBe(false);
      }
      for (const key of Object.keys(node))
        expect(["$schema", "minimum", "maximum", "minLength", "pattern"]).not.toContain(key);
      for (const inner of Object.values(node)) walk(inner);
    };
    for (const kind of ["work", "review", "test"] as const) walk(reportSchema(kind));
  });
});
