import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadDriver } from "../../src/drivers/index.js";
import { scriptedModel } from "../hosts/scripted-model/server.js";
import { pathWith } from "./clients.js";
import { type Desk, desk } from "./desk.js";
import { sequence } from "./sequence.js";

// What the real program does is shown first; beside it a program with its manners stands in for it: what that one is told
// is checked to the letter, and what it prints is what version 2.1 prints.
let at: Desk;
beforeEach(() => {
  at = desk();
});
afterEach(() => at.remove());

function standIn(lines: readonly object[], version = "2.1.325"): void {
  at.put({ "bin/lines": lines.map((line) => JSON.stringify(line)).join("\n") });
  at.install(
    "claude",
    `#!/bin/sh
[ "$1" = --version ] && { echo "${version} (Claude Code)"; exit 0; }
echo "$@" > "$HOME/arguments"
cat > "$HOME/prompt"
for word in "$@"; do case "$word" in *mcp-*.json|*role-*.md) cat "$word" >> "$HOME/files"; echo >> "$HOME/files";; esac; done
cat ${at.folder}/bin/lines; echo
exit \${CLAUDE_EXIT:-0}
`,
  );
}

const INIT = { type: "system", subtype: "init", session_id: "s-1" };
const result = (more: object = {}) => ({
  type: "result",
  subtype: "success",
  is_error: false,
  result: "all done",
  total_cost_usd: 0.5,
  usage: { input_tokens: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 5, output_tokens: 6 },
  ...more,
});

const PATH = pathWith("claude");

describe.skipIf(PATH === null)("claude (needs the real program)", () => {
  it("plays a role that may not edit, and has only its words when it was reminded of its report in vain", async () => {
    const write = { unoffered: "Write", args: { file_path: "/var/tmp/nut-never", content: "x" } };
    const model = await scriptedModel(sequence(write, "could not", "sorry"));
    const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "none", ANTHROPIC_MODEL: "scripted" };
    const end = await at.run("claude", {
      env: { PATH: PATH!, HOME: at.home, ...env },
      may: { edit: false, shell: false },
      reportSchema: { type: "object", properties: { summary: { type: "string" } }, required: ["summary"] },
    });
    await model.close();
    expect(end).toMatchObject({ outcome: "completed", text: "could not\n\nsorry" });
    expect(model.requests.some(({ system }) => system.includes("You are the engineer."))).toBe(true);
    expect(readdirSync(at.cwd)).toEqual([]);
  });
});

describe("the claude driver", () => {
  it("takes a report in the shape it asked for; an agent reminded of it without success has only its words", async () => {
    const reportSchema = { type: "object" };
    const said = (text: string) => ({ type: "assistant", message: { content: [{ type: "text", text }] } });
    const reminder = { type: "user", isSynthetic: true, message: { content: [{ type: "text", text: "call it" }] } };
    standIn([INIT, said("words"), result({ result: '{"summary":"s"}', structured_output: { summary: "s" } })]);
    const report = await at.run("claude", { reportSchema });
    expect(report).toMatchObject({ outcome: "completed", text: "words", report: { summary: "s" } });
    standIn([INIT, result({ result: "{}", structured_output: {} })]);
    expect(await at.run("claude", { reportSchema })).toMatchObject({ outcome: "completed", text: "", report: {} });
    standIn([INIT, said("VERDICT: fail"), reminder, said("sorry"), result({ result: "sorry" })]);
    const words = await at.run("claude", { reportSchema });
    expect(words).toMatchObject({ outcome: "completed", text: "VERDICT: fail\n\nsorry" });
    expect(words).not.toHaveProperty("report");
  });

  it("hears messages, tools, files, refusals, usage", async () => {
    standIn([
      INIT,
      {
        type: "assistant",
        message: {
          content: [
            { type: "thinking", thinking: "hm" },
            { type: "text", text: "working" },
          ],
        },
      },
      {
        type: "assistant",
        message: { content: [{ type: "tool_use", id: "t1", name: "Write", input: { file_path: "/a" } }] },
      },
      {
        type: "user",
        message: { content: [{ type: "tool_result", tool_use_id: "t1" }] },
        tool_use_result: { type: "create", filePath: "/a" },
      },
      {
        type: "assistant",
        message: { content: [{ type: "tool_use", id: "t2", name: "mcp__nx__nx_task_list", input: {} }] },
      },
      { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t2", is_error: true }] } },
      result({ permission_denials: [{ tool_name: "Bash" }] }),
    ]);
    const end = await at.run("claude");
    expect(end).toMatchObject({
      outcome: "completed",
      sessionId: "s-1",
      text: "all done",
      usage: { inputTokens: 12, cachedTokens: 4, outputTokens: 6, costUsd: 0.5 },
    });
    expect(at.events.filter(({ type }) => type !== "usage")).toEqual([
      { type: "session", id: "s-1" },
      { type: "message", text: "hm", thought: true },
      { type: "message", text: "working", thought: false },
      { type: "tool_call", id: "t1", tool: "Write", status: "started", input: { file_path: "/a" } },
      { type: "tool_call", id: "t1", tool: "Write", status: "finished" },
      { type: "file", path: "/a", change: "created" },
      { type: "tool_call", id: "t2", tool: "nx.nx_task_list", status: "started", input: {} },
      { type: "tool_call", id: "t2", tool: "nx.nx_task_list", status: "failed" },
      { type: "question", text: "may it use Bash?", answer: "refused" },
    ]);
  });

  it("gives an allow list, and everything again on resume; texts and servers travel in private files", async () => {
    standIn([INIT, result()]);
    const { readFileSync } = await import("node:fs");
    const told = async (request: Parameters<Desk["run"]>[1]) => {
      await at.run("claude", {
        mcpServers: [{ name: "nx", command: "nexus", args: ["mcp"], env: { KEY: "s3cret" } }],
        ...request,
      });
      return readFileSync(join(at.home, "arguments"), "utf8");
    };
    const first = await told({
      may: { edit: false, shell: false },
      deniedTools: ["nx.nx_task_add"],
      model: "m",
      budgetUsd: 2,
    });
    expect(first).toContain(
      "--tools Read,Glob,Grep,TodoWrite,WebFetch,WebSearch --allowedTools Read,Glob,Grep,TodoWrite,WebFetch,WebSearch,mcp__nx",
    );
    expect(first).toContain("--disallowedTools mcp__nx__nx_task_add --model m --max-budget-usd 2");
    expect(first).toContain("--strict-mcp-config --setting-sources");
    expect(first).not.toMatch(/s3cret|engineer|Do the task/);
    expect(readFileSync(join(at.home, "prompt"), "utf8")).toBe("Do the task.");
    expect(readFileSync(join(at.home, "files"), "utf8")).toContain(
      'You are the engineer.\n{"mcpServers":{"nx":{"command":"nexus","args":["mcp"],"env":{"KEY":"s3cret"}}}}',
    );
    expect(readdirSync(join(at.home, ".claude"))).toEqual([]);
    const again = await told({ resume: "s-1" });
    expect(again).toContain("Edit,MultiEdit,Write,NotebookEdit,Bash");
    expect(again).toContain("--resume s-1");
  });

  it.each<[string, object[], object]>([
    [
      "an error whose subtype says success",
      [INIT, result({ is_error: true, result: "credit is used up" })],
      { outcome: "failed", error: "credit is used up" },
    ],
    [
      "a turn that says nothing",
      [INIT, result({ result: "" })],
      { outcome: "failed", error: "it ended without a word" },
    ],
    ["an end in the middle", [INIT], { outcome: "failed", error: "it ended in the middle of its turn" }],
  ])("calls %s a failure", async (_, lines, expected) => {
    standIn(lines);
    expect(await at.run("claude")).toMatchObject(expected);
  });

  it("is missing or too old in one sentence", async () => {
    const env = { PATH: join(at.folder, "bin"), HOME: at.home };
    await expect(at.run("claude", { env })).rejects.toMatchObject({
      code: "DRIVER_MISSING",
      message: "claude is not on PATH",
    });
    standIn([], "1.0.9");
    await expect(at.run("claude")).rejects.toMatchObject({
      code: "DRIVER_TOO_OLD",
      message: "claude 1.0.9 is too old, 2.1.48 is needed",
      hint: "npm install -g @anthropic-ai/claude-code@2.1.325",
    });
    const probe = await (await loadDriver("claude")).probe({ PATH: `${join(at.folder, "bin")}:${process.env.PATH}` });
    expect(probe).toMatchObject({ usable: false, version: "1.0.9" });
    expect(existsSync(join(at.folder, "person/.claude"))).toBe(false);
  });
});
