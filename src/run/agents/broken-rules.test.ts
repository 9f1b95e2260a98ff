import { describe, expect, it } from "vitest";
import { processorMs } from "../../../tests/run/processor-time.js";
import { readConstraints } from "../../acceptance/index.js";
import type { Change, TreeEntry } from "../../trees/tree.js";
import { brokenRules, leavesTree, type RulesInput } from "./broken-rules.js";

const entry = (type: TreeEntry["type"] = "file"): TreeEntry => ({ type, executable: false, size: 1, hash: "" });
const change = (path: string, type: TreeEntry["type"] = "file"): Change => ({
  path,
  kind: "modified",
  before: entry(),
  after: entry(type),
});
const deleted = (path: string): Change => ({ path, kind: "deleted", before: entry(), after: null });
const git = { refs: "r", trusted: "t" };

const judge = (more: Partial<RulesInput> = {}) =>
  brokenRules({
    task: { id: 1, title: "t", context: "c", deps: [], owner: "engineer", kind: "work" },
    mayEdit: true,
    changes: [],
    constraints: readConstraints([]),
    isOwnTest: (path) => path.startsWith("tests/"),
    linkTarget: () => "a.txt",
    leaks: () => false,
    git: { before: null, after: null },
    outcome: "done",
    text: "RESULT: done",
    error: "",
    ...more,
  });
const problems = (more: Partial<RulesInput>) => judge(more).problems;

describe("what an agent left", () => {
  it("is fine when it breaks no rule", () => {
    expect(judge({ changes: [change("files/a.txt")] })).toEqual({ problems: [], notes: [] });
  });

  it("needs a report, and an end that is no error", () => {
    expect(problems({ text: " \n" })).toEqual(["the agent ended without a report"]);
    expect(problems({ outcome: "failed", error: "no credit" })).toEqual(["the agent ended with an error: no credit"]);
    expect(problems({ outcome: "failed" })).toEqual(["the agent ended with an error: no reason was given"]);
  });

  it("fails the task when the agent says it is blocked, and is only noted when it says partial or fail", () => {
    expect(problems({ text: "RESULT: blocked\nISSUE: no access" })).toEqual(["blocked: no access"]);
    expect(judge({ text: "RESULT: partial\nSUMMARY: half" })).toEqual({
      problems: [],
      notes: ["the engineer says partial: half"],
    });
    expect(judge({ text: "VERDICT: fail\nSUMMARY: it lies" }).notes).toEqual(["the engineer says fail: it lies"]);
  });

  it("is read in proportion to its length, newlines and blanks too", () => {
    const took = (n: number) =>
      processorMs(() => {
        for (const blank of ["\n", " ", "\t\n"]) judge({ text: `RESULT:${blank.repeat(n)}x` });
      });
    // Sixteen times the length took some 256 times as long.
    expect(took(64_000)).toBeLessThan(60 * Math.max(took(4_000), 1));
  });

  it("is taken back from a role that may not edit", () => {
    expect(problems({ mayEdit: false, changes: [change("a")] })).toEqual([
      "the engineer may not change files, but changed a; the change was taken back",
    ]);
    expect(problems({ mayEdit: false, changes: [deleted("a")] })).toHaveLength(1);
    expect(problems({ mayEdit: false })).toEqual([]);
  });

  it("keeps to the constraints and to the task's own files", () => {
    const constraints = readConstraints(["Do not modify files outside files/"]);
    expect(problems({ constraints, changes: [change("files/a"), change("README.md")] })).toEqual([
      'README.md was changed against the constraint "Do not modify files outside files/"',
    ]);
    const task = { id: 1, title: "t", context: "c", deps: [], owner: "engineer", kind: "work", files: ["a/"] } as const;
    expect(problems({ task, changes: [change("a/x"), change("b")] })).toEqual([
      "b lies outside the files of this task",
    ]);
  });

  it("holds no link that leaves the tree, nothing that is no file, and no secret", () => {
    expect(problems({ changes: [change("l", "link")], linkTarget: () => "../x" })).toEqual([
      "l is a link that leaves the working folder",
    ]);
    expect(problems({ changes: [change("l", "link")] })).toEqual([]);
    expect(problems({ changes: [change("p", "other")] })).toEqual(["p is neither a file, a folder nor a link"]);
    expect(problems({ changes: [change("s")], leaks: () => true })).toEqual(["s holds a credential's value"]);
    expect(problems({ changes: [deleted("s")], leaks: () => true })).toEqual([]);
  });

  it("fails for a name that is not UTF-8, whoever left it", () => {
    for (const mayEdit of [true, false])
      expect(problems({ mayEdit, unnamed: ["d/neu\ufffd", "other"] })).toEqual([
        "the name of d/neu\ufffd is not UTF-8, which no delivery can hold",
      ]);
  });

  it("says when the request's own tests were changed", () => {
    expect(judge({ changes: [change("tests/a.sh")] })).toEqual({
      problems: [],
      notes: ["the request's own tests were changed (tests/a.sh); they are put back"],
    });
  });

  it("leaves git's configuration and hooks alone, and its branches unless the role may edit", () => {
    const moved = { before: git, after: { ...git, refs: "other" } };
    expect(problems({ git: { before: git, after: git } })).toEqual([]);
    expect(problems({ git: { before: git, after: { ...git, trusted: "other" } } })).toEqual([
      "git's configuration or hooks were changed",
    ]);
    expect(problems({ git: { before: git, after: null } })).toEqual(["the repository's .git folder is gone"]);
    expect(problems({ git: moved })).toEqual([]);
    expect(problems({ git: moved, mayEdit: false })).toEqual(["the engineer moved a branch or HEAD"]);
  });
});

describe("a link", () => {
  it.each([
    ["files/link", "hello.txt", false],
    ["files/link", "../README.md", false],
    ["files/link", "../../x", true],
    ["link", "..", true],
    ["link", "/etc/passwd", true],
    ["a/b/link", "../../c", false],
  ])("at %s to %s leaves the tree: %s", (path, target, leaves) => {
    expect(leavesTree(path, target)).toBe(leaves);
  });
});
