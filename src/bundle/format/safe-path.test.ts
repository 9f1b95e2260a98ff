import { describe, expect, it } from "vitest";
import { isObeyed } from "./obeyed.js";
import { assertSafePath, collisions, pathProblem, portabilityProblem } from "./safe-path.js";

describe("pathProblem", () => {
  it.each([
    ["", /no name/],
    ["a\u0007b", /control character/],
    ["a\u009bb", /control character/],
    ["a\\b", /backslash/],
    ["/etc/passwd", /absolute/],
    ["C:x", /drive letter/],
    ["a\ud800", /Unicode/],
    ["../x", /climbs out/],
    ["a/../../x", /climbs out/],
    ["a//b", /empty step/],
    ["a/./b", /empty step/],
    [".git/config", /programs obey/],
    ["sub/.GIT/hooks/x", /programs obey/],
    [".g\u200cit/x", /programs obey/],
    [".git./x", /programs obey/],
    ["GIT~1/config", /another spelling/],
    ["x/.nexus/state/plan.json", /belongs to a harness/],
    [".hg/hgrc", /programs obey/],
  ])("refuses %j", (path, message) => {
    expect(pathProblem(path)).toEqual(["BUNDLE_UNSAFE_PATH", expect.stringMatching(message)]);
    expect(() => assertSafePath(path)).toThrow(expect.objectContaining({ code: "BUNDLE_UNSAFE_PATH" }));
  });

  it.each([
    ["deep", `${"a/".repeat(64)}x`],
    [
      "long",
      `${"n/".repeat(30)}${"é".repeat(120)}/${"é".repeat(120)}/${"é".repeat(120)}/${"é".repeat(120)}/${"é".repeat(120)}`,
    ],
    ["long in one name", "é".repeat(128)],
  ])("refuses a path that is too %s", (_what, path) => {
    expect(pathProblem(path)?.[0]).toBe("BUNDLE_LIMIT");
  });

  it.each([
    "a",
    "a/b.c",
    "..a",
    "a..",
    ".github/x",
    ".nexus/config.yml",
    "é/ü",
    "n".repeat(255),
    `${"a/".repeat(63)}x`,
  ])("accepts %j", (path) => expect(pathProblem(path)).toBeNull());
});

describe("isObeyed", () => {
  it.each([
    "CLAUDE.md",
    "claude.md",
    "AGENTS.md",
    ".mcp.json",
    ".claude/settings.json",
    ".vscode/tasks.json",
    ".envrc",
    ".nexus/config.yml",
    "ＣＬＡＵＤＥ.md",
  ])("knows %s", (path) => expect(isObeyed(path)).toBe(true));
  it.each(["docs/claude.txt", "readme.md", "context/notes.md"])("leaves %s in its place", (path) =>
    expect(isObeyed(path)).toBe(false),
  );
});

describe("names that do not travel", () => {
  it.each(["con", "aux.txt", "a/nul", "x.", "x ", "a:b", "a?b", "PROGRA~1", "a\u200bb"])("include %j", (path) =>
    expect(portabilityProblem(path)).not.toBeNull(),
  );
  it("are not those of honest files", () => {
    for (const path of ["console.ts", "a b", "v1.2", "a~b", "x-1"]) expect(portabilityProblem(path)).toBeNull();
  });
  it("collide where case or Unicode form is ignored", () => {
    expect(collisions(["README", "readme", "a", "é", "e\u0301"])).toEqual([
      ["README", "readme"],
      ["é", "e\u0301"],
    ]);
  });
});
