// Tools of other MCP servers meet the same gate as a host's own.
import { expect, it } from "vitest";
import { findHost } from "../../src/hosts/index.js";
import { claudePayload, newProject, runHook } from "./hook-process.js";

const use = (name: string, input: unknown) => findHost("claude")!.toolUse(name, input);

it.each([
  ["mcp__filesystem__write_file", { path: "a.txt", content: "x" }, ["a.txt"]],
  ["mcp__filesystem__move_file", { source: "a", destination: "b" }, ["a", "b"]],
  ["mcp__fs__editFile", { filePath: "a.ts", edits: [] }, ["a.ts"]],
  ["mcp__serena__replace_symbol_body", { relative_path: "a.py", body: "x" }, ["a.py"]],
  [
    "mcp__ide__applyEdits",
    { edits: [{ uri: "file:///p/a%20b.ts" }, { uri: "file:///p/c.ts" }] },
    ["/p/a b.ts", "/p/c.ts"],
  ],
])("%s is an edit", (name, input, paths) => {
  expect(use(name, input)).toMatchObject({ access: "edit", classes: ["file_modification"], paths });
});

it.each([
  ["mcp__filesystem__read_file", { path: "a.txt" }],
  ["mcp__github__create_issue", { title: "x", body: "y" }],
  ["mcp__web__upload", { uri: "https://example.org/a" }],
  ["mcp__edit_server__list", { path: "a" }],
])("%s is none", (name, input) => {
  expect(use(name, input).access).toBe("other");
});

it("is denied while there is no task list, and settings stay off limits to roles", async () => {
  const { root } = newProject();
  const call = (path: string, caller = {}) =>
    runHook(
      claudePayload(root, "PreToolUse", {
        tool_name: "mcp__filesystem__write_file",
        tool_input: { path, content: "x" },
        ...caller,
      }),
    );
  expect((await call(`${root}/a.txt`)).stdout).toContain("no task list");
  expect((await call("/elsewhere/a.txt")).stdout).toBe("");
  expect((await call(`${root}/.claude/settings.json`, { agent_id: "e", agent_type: "engineer" })).stdout).toContain(
    "off limits",
  );
});
