// Nexus inside the real Claude Code, when it is installed; driven by a scripted model on loopback, with no key and no network.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { clientProgram, newPlace, type Place, type Ran } from "./clients.js";
import { marketIn } from "./market.js";
import { type Rule, type ScriptedModel, scriptedModel } from "./scripted-model/server.js";

let program: string | null;
let place: Place;
let model: ScriptedModel;

beforeAll(() => {
  program = clientProgram("claude");
});

afterEach(async () => {
  await model?.close();
  place?.remove();
});

const WITHOUT = "claude is not installed";

async function start(
  rules: (root: string) => readonly Rule[],
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  place = newPlace({ "a.txt": "hello\n", ...files });
  model = await scriptedModel(rules(place.root));
}

const claude = (
  prompt: string,
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> => {
  const allowed = "Bash,Write,Edit,Agent,Task,mcp__nexus,mcp__plugin_nutcracker_nexus";
  const args = ["-p", prompt, "--output-format", "json", "--allowedTools", allowed, ...flags];
  return place.run(program!, args, {
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_MODEL: "scripted",
    ENABLE_TOOL_SEARCH: "false",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    ...env,
  });
};

const seen = (rule: string) => model.requests.find((request) => request.rule === rule);
const said = (rule: string): string => seen(rule)?.last ?? "";
const bash = (command: string) => ({ tool: /^Bash$/, args: { command, description: "x" } });
const isTester = /# Tester/;

describe("inside Claude Code", { timeout: 180_000 }, () => {
  it("tells the model where it is, injects the skill of [plan], refuses unplanned edits, and tidies up", async ({
    skip,
  }) => {
    if (program === null) skip(WITHOUT);
    await start(
      (root) => [
        {
          name: "plan",
          when: { last: /make it faster/ },
          times: 1,
          reply: [{ tool: /nx_plan_start$/, args: { topic: "speed", issues: ["how"], research_summary: "none" } }],
        },
        {
          name: "write",
          when: { last: /plan_id/ },
          times: 1,
          reply: [{ tool: /^Write$/, args: { file_path: join(root, "b.txt"), content: "x" } }],
        },
        { name: "shell", when: { last: /Write would change/ }, times: 1, reply: [bash("echo x > b.txt")] },
        {
          name: "add",
          when: { last: /redirection/ },
          times: 1,
          reply: [{ tool: /nx_task_add$/, args: { title: "edit a", context: "c" } }],
        },
        {
          name: "again",
          when: { last: /edit a/ },
          times: 1,
          reply: [{ tool: /^Write$/, args: { file_path: join(root, "c.txt"), content: "allowed" } }],
        },
        {
          name: "log",
          when: { last: /c\.txt/i },
          times: 1,
          reply: [bash("cat .nexus/state/tool-log.jsonl .nexus/state/edit-tracker.json")],
        },
        { name: "end", reply: ["all done"] },
      ],
      { ".nexus/rules/general.md": "- be kind\n" },
    );
    expect((await place.nexusHere("setup", "claude")).exit).toBe(0);
    // Which Claude Code reads.
    place.write(".claude/settings.json", `\ufeff${place.read(".claude/settings.json")}`);
    const ran = await claude("[plan] make it faster");
    expect(ran.exit, ran.stdout + ran.stderr).toBe(0);
    expect(model.used()).toEqual(["plan", "write", "shell", "add", "again", "log", "end"]);
    for (const text of ["This project works with Nexus", ".nexus/rules/general.md", "Skill nx-plan is now active"])
      expect(said("plan")).toContain(text);
    // CLAUDE.md; a manual skill is offered to nobody
    for (const text of ["This project is worked on with Nexus", "nx-sync"]) expect(seen("plan")!.any).toContain(text);
    expect(seen("plan")!.any).not.toContain("nx-setup");
    expect(said("shell")).toContain("no task list");
    expect(place.has("b.txt")).toBe(false);
    expect(place.read("c.txt")).toBe("allowed");
    expect(said("end")).toContain('"path":"c.txt"');
    const offered = seen("plan")!.tools.map(({ name }) => name);
    expect(offered).toEqual(
      expect.arrayContaining(["mcp__nexus__nx_task_add", "Write", "Edit", "NotebookEdit", "Bash", "Agent"]),
    );
    expect(place.has(".nexus/state/nutcracker-claude/agent-tracker.json")).toBe(false);
    expect(place.has(".nexus/state/tool-log.jsonl")).toBe(false);
  });

  it("holds a role to its limits, tracks it, and catches what its shell wrote", async ({ skip }) => {
    if (program === null) skip(WITHOUT);
    await start(
      () => [
        {
          name: "sub-shell",
          when: { system: isTester, last: /TASK: check it/ },
          times: 1,
          reply: [bash("echo x > sub.txt")],
        },
        {
          name: "sub-script",
          when: { system: isTester, last: /this command would/ },
          times: 1,
          reply: [bash("node write.cjs; cat .nexus/state/nutcracker-claude/agent-tracker.json")],
        },
        {
          name: "sub-again",
          when: { system: isTester, last: /GO ON/ },
          times: 1,
          reply: [bash("echo x > again.txt")],
        },
        { name: "sub-end", when: { system: isTester }, reply: ["VERDICT: pass"] },
        {
          name: "spawn",
          when: { last: /please check/ },
          times: 1,
          reply: [
            {
              tool: /^(?:Agent|Task)$/,
              args: {
                subagent_type: "tester",
                prompt: "TASK: check it",
                description: "check",
                run_in_background: false,
              },
            },
          ],
        },
        {
          name: "go-on",
          when: { last: /VERDICT/ },
          times: 1,
          reply: ({ last }) => {
            const to = /agentId: (\w+)/.exec(last)?.[1] ?? "none";
            return [{ tool: /^SendMessage$/, args: { to, message: "GO ON", summary: "go on" } }];
          },
        },
        { name: "end", reply: ["all done"] },
      ],
      { "write.cjs": "require('fs').writeFileSync('sneaky.txt', 'x')\n" },
    );
    expect((await place.nexusHere("setup", "claude")).exit).toBe(0);
    await place.nexusHere(
      "call",
      "task_add",
      JSON.stringify({ title: "check it", context: "c", owner: "tester", acceptance: "it works" }),
    );
    const ran = await claude("please check", ["--allowedTools", "SendMessage"]);
    expect(ran.exit, ran.stdout + ran.stderr).toBe(0);
    expect(model.used().slice(0, 5)).toEqual(["spawn", "sub-shell", "sub-script", "sub-end", "go-on"]);
    expect(seen("sub-shell")!.any).toContain("Report to Lead");
    expect(said("sub-script")).toContain("redirection >");
    expect(said("sub-end")).toContain("running");
    // One that goes on after its end is in its role again.
    const ends = model.requests.filter(({ rule }) => rule === "sub-end");
    expect(ends.at(-1)!.last).toContain("the tester role may not change files");
    for (const file of ["sub.txt", "sneaky.txt", "again.txt"]) expect(place.has(file), file).toBe(false);
    const offered = seen("sub-shell")!.tools.map(({ name }) => name);
    for (const name of ["Write", "Edit", "NotebookEdit", "Agent", "mcp__nexus__nx_task_add"])
      expect(offered).not.toContain(name);
    expect(offered).toContain("mcp__nexus__nx_task_list");
    expect(said("go-on")).toContain("acceptance that nobody verified");
    expect(place.json(".nexus/state/tasks.json")).toMatchObject({ tasks: [{ id: 1, status: "in_progress" }] });
  });

  it("keeps its hooks although its settings lose them while a role is at work [P6]", async ({ skip }) => {
    if (program === null) skip(WITHOUT);
    await start((root) => [
      {
        name: "sub-shell",
        when: { system: isTester, last: /TASK: check it/ },
        times: 1,
        reply: () => {
          writeFileSync(join(root, ".claude/settings.json"), "{}");
          // Claude Code looks at its settings about once a second.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
          return [bash("echo x > sub.txt")];
        },
      },
      { name: "sub-end", when: { system: isTester }, reply: ["VERDICT: pass"] },
      {
        name: "spawn",
        when: { last: /please check/ },
        times: 1,
        reply: [
          {
            tool: /^(?:Agent|Task)$/,
            args: { subagent_type: "tester", prompt: "TASK: check it", description: "x", run_in_background: false },
          },
        ],
      },
      { name: "end", reply: ["all done"] },
    ]);
    expect((await place.nexusHere("setup", "claude")).exit).toBe(0);
    const settings = place.read(".claude/settings.json");
    const ran = await claude("please check");
    expect(ran.exit, ran.stdout + ran.stderr).toBe(0);
    expect(said("sub-end")).toContain("nexus:");
    expect(place.has("sub.txt")).toBe(false);
    expect(place.read(".claude/settings.json")).toBe(settings);
  });

  it("has one task list for a project and the work tree an agent is put into", async ({ skip }) => {
    if (program === null) skip(WITHOUT);
    const treeIn = (text: string) => /[^"\s\\]+\/\.claude\/worktrees\/[\w-]+/.exec(text)?.[0] ?? "none";
    await start(() => [
      {
        name: "sub-write",
        when: { system: /# Engineer/, last: /TASK: edit it/ },
        times: 1,
        reply: ({ any }) => [{ tool: /^Write$/, args: { file_path: `${treeIn(any)}/made.txt`, content: "x" } }],
      },
      {
        name: "sub-settings",
        when: { system: /# Engineer/, last: /made\.txt/ },
        times: 1,
        reply: ({ any }) => [
          { tool: /^Write$/, args: { file_path: `${treeIn(any)}/.claude/settings.json`, content: "{}" } },
        ],
      },
      { name: "sub-end", when: { system: /# Engineer/ }, reply: ["ENGINEER DONE"] },
      {
        name: "spawn",
        when: { last: /^(?=[\s\S]*please edit)[\s\S]*Skill nx-setup is now active/ },
        times: 1,
        reply: [
          {
            tool: /^(?:Agent|Task)$/,
            args: {
              subagent_type: "engineer",
              prompt: "TASK: edit it",
              description: "edit",
              isolation: "worktree",
              run_in_background: false,
            },
          },
        ],
      },
      { name: "end", reply: ["all done"] },
    ]);
    expect((await place.nexusHere("setup", "claude")).exit).toBe(0);
    await place.nexusHere("call", "task_add", JSON.stringify({ title: "edit it", context: "c", owner: "engineer" }));
    spawnSync("git", ["add", "-A"], { cwd: place.root });
    const id = ["-c", "user.name=a", "-c", "user.email=a@b"];
    spawnSync("git", [...id, "commit", "-qm", "first"], { cwd: place.root });
    // A person starts a manual skill by its slash command.
    const ran = await claude("/nx-setup please edit");
    expect(ran.exit, ran.stdout + ran.stderr).toBe(0);
    expect(model.used()).toEqual(["spawn", "sub-write", "sub-settings", "sub-end", "end"]);
    expect(said("sub-settings")).toContain("made.txt");
    expect(said("sub-settings")).not.toContain("off limits");
    expect(said("sub-end")).toContain("off limits");
  });

  it("is told once of open tasks when it stops, and restores the session's snapshot after a compaction", async ({
    skip,
  }) => {
    if (program === null) skip(WITHOUT);
    await start(() => [
      {
        name: "compaction",
        when: { last: /detailed summary|create a summary|summary of the conversation/i },
        reply: ["<summary>SUMMARY-OF-SESSION</summary>"],
      },
      {
        name: "compaction",
        bare: true,
        when: { last: /detailed summary|summary of the conversation/i },
        reply: ["<summary>SUMMARY-OF-SESSION</summary>"],
      },
      { name: "after", when: { last: /carry on/ }, reply: ["went on"] },
      { name: "first", reply: ["noted"] },
    ]);
    expect((await place.nexusHere("setup", "claude", "--scope", "user")).exit).toBe(0);
    await place.nexusHere("call", "task_add", JSON.stringify({ title: "a task to remember", context: "c" }));
    const session = JSON.parse((await claude("[run] begin")).stdout).session_id as string;
    const compacted = await claude("/compact", ["--resume", session]);
    expect(compacted.exit, compacted.stdout + compacted.stderr).toBe(0);
    await claude("carry on", ["--resume", session]);
    expect(seen("after")!.any).toContain("restored from its files");
    expect(seen("after")!.any).toContain("a task to remember");
    const told = model.requests.filter(({ rule, last }) => rule === "first" && last.includes("tasks are still open"));
    expect(told).toHaveLength(1);
  });

  it("says itself which settings it leaves out, and doctor passes it on", async ({ skip }) => {
    if (program === null) skip(WITHOUT);
    await start((root) => [
      { name: "write", times: 1, reply: [{ tool: /^Write$/, args: { file_path: join(root, "b.txt"), content: "x" } }] },
      { name: "end", reply: ["ok"] },
    ]);
    await place.nexusHere("setup", "claude");
    const settings = place.json(".claude/settings.json") as object;
    place.write(".claude/settings.json", JSON.stringify({ ...settings, model: 5 }));
    await claude("go on");
    // Without a gate.
    expect(place.has("b.txt")).toBe(true);
    const path = { PATH: `${dirname(program!)}:${process.env.PATH}` };
    const doctor = await place.nexusWith(path, "doctor", "claude", "--json");
    expect([doctor.exit, doctor.stdout]).toEqual([
      1,
      expect.stringContaining("model: Expected string, but received number, so Claude Code leaves the whole file out"),
    ]);
  });

  it("lives in the plugin as well, installed from its marketplace", async ({ skip }) => {
    if (program === null) skip(WITHOUT);
    await start((root) => [
      {
        name: "write",
        when: { last: /go on/ },
        times: 1,
        reply: [{ tool: /^Write$/, args: { file_path: join(root, "b.txt"), content: "x" } }],
      },
      {
        name: "call",
        when: { last: /Write would change/ },
        times: 1,
        reply: [{ tool: /plugin_nutcracker_nexus__nx_task_list$/, args: {} }],
      },
      { name: "end", reply: ["all done"] },
    ]);
    const market = await marketIn(place);
    for (const words of [
      ["validate", market],
      ["marketplace", "add", market],
      ["install", "nutcracker@nutcracker"],
    ]) {
      const done = await place.run(program!, ["plugin", ...words]);
      expect(done.exit, done.stdout + done.stderr).toBe(0);
    }
    place.write(".mcp.json", '{"mcpServers":{}}');
    const ran = await claude("[run] go on");
    expect(ran.exit, ran.stdout + ran.stderr).toBe(0);
    expect(model.used()).toEqual(["write", "call", "end"]);
    expect(said("write")).toContain("Skill nx-run is now active");
    expect(said("end")).toContain("exists");
    expect(place.has("b.txt")).toBe(false);
  });
});
