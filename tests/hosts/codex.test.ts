// Nexus inside the real Codex, driven by a scripted model on loopback. What counts is what reached the model, what is on
// disk, and what did not happen.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { clientProgram, type Place, type Ran } from "./clients.js";
import { codexPlace } from "./codex-place.js";
import { marketIn } from "./market.js";
import type { Rule, ScriptedModel } from "./scripted-model/server.js";

let program: string | null;
let place: Place;
let model: ScriptedModel;

beforeAll(() => {
  program = clientProgram("codex");
}, 300_000);

afterEach(async () => {
  await model?.close();
  place?.remove();
});

/** A model entry of our own: every tool offered at once, no catalogue of the vendor's. */
const MODEL = {
  slug: "scripted",
  display_name: "Scripted",
  description: "",
  default_reasoning_level: "low",
  supported_reasoning_levels: [{ effort: "low", description: "" }],
  shell_type: "unified_exec",
  visibility: "list",
  supported_in_api: true,
  priority: 1,
  base_instructions: "You do what the test says.",
  support_verbosity: false,
  apply_patch_tool_type: "freeform",
  truncation_policy: { mode: "tokens", limit: 10_000 },
  context_window: 100_000,
  experimental_supported_tools: [],
  input_modalities: ["text"],
};

async function start(
  rules: readonly Rule[],
  files: Readonly<Record<string, string>> = {},
  settings = "",
): Promise<void> {
  const own = 'model_catalog_json = "../models.json"\nsandbox_mode = "danger-full-access"';
  ({ place, model } = await codexPlace(rules, { slug: MODEL.slug, files, settings: `${own}\n${settings}` }));
  writeFileSync(join(place.home, "models.json"), JSON.stringify({ models: [MODEL] }));
}

const codex = (prompt: string, ...flags: string[]): Promise<Ran> =>
  place.run(program!, ["exec", "-C", place.root, "--json", "--dangerously-bypass-hook-trust", ...flags, prompt]);

const PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n-hello\n+bye\n*** End Patch\n";
const agentId = (text: string): string => /agent_id\\?":\s*\\?"([^"\\]+)/.exec(text)?.[1] ?? "none";
const said = (rule: string): string => model.requests.find((request) => request.rule === rule)?.last ?? "";

describe("inside Codex", { timeout: 180_000 }, () => {
  it("tells the model where it is, injects the skill of [plan], refuses unplanned edits, and tidies up", async ({
    skip,
  }) => {
    if (program === null) skip("codex could not be installed");
    await start(
      [
        {
          name: "plan",
          when: { last: /make it faster/ },
          times: 1,
          reply: [{ tool: /nx_plan_start/, args: { topic: "speed", issues: ["how"], research_summary: "none" } }],
        },
        {
          name: "patch",
          when: { last: /"created":true|plan_id/ },
          times: 1,
          reply: [{ tool: /^apply_patch$/, args: PATCH }],
        },
        {
          name: "shell",
          when: { last: /apply_patch would change/ },
          times: 1,
          reply: [{ tool: /^exec_command$/, args: { cmd: "echo x > b.txt" } }],
        },
        {
          name: "add",
          when: { last: /redirection/ },
          times: 1,
          reply: [{ tool: /nx_task_add/, args: { title: "edit a", context: "c" } }],
        },
        { name: "again", when: { last: /edit a/ }, times: 1, reply: [{ tool: /^apply_patch$/, args: PATCH }] },
        {
          name: "log",
          when: { last: /Success|updated|Done/ },
          times: 1,
          reply: [
            { tool: /^exec_command$/, args: { cmd: "cat .nexus/state/tool-log.jsonl .nexus/state/edit-tracker.json" } },
          ],
        },
        { name: "end", reply: ["all done"] },
      ],
      { ".nexus/rules/general.md": "- be kind\n" },
    );
    // A person's own server of our name, which Codex mixes with the project's.
    const config = join(place.home, ".codex/config.toml");
    const theirs = '\n[mcp_servers.nexus]\ncommand = "mine"\nenabled = false\n';
    writeFileSync(config, readFileSync(config, "utf8") + theirs);
    const ran = await codex("[plan] make it faster");
    expect(ran.exit, ran.stderr).toBe(0);
    expect(model.used()).toEqual(["plan", "patch", "shell", "add", "again", "log", "end"]);
    // session_start and user_message
    expect(said("plan")).toContain("This project works with Nexus");
    expect(said("plan")).toContain(".nexus/rules/general.md");
    expect(said("plan")).toContain("Skill nx-plan is now active");
    expect(said("plan")).toContain("1 in rules/");
    // AGENTS.md; a manual skill is offered to nobody
    const first = model.requests[0]!.any;
    for (const text of ["This project is worked on with Nexus", "nx-sync"]) expect(first).toContain(text);
    expect(first).not.toContain("nx-setup");
    // pre_tool_use
    expect(said("shell")).toContain("no task list");
    expect(said("add")).toContain("no task list");
    expect(place.has("b.txt")).toBe(false);
    expect(place.read("a.txt")).toBe("bye\n");
    // post_tool_use: abstract words in the common files, nothing of the host's
    expect(said("end")).toContain('"tool":"plan_start"');
    expect(said("end")).toContain('"path":"a.txt"');
    expect(said("end")).not.toContain("apply_patch");
    // every registered tool has the name we tell, and what we deny exists
    const offered = model.requests[0]!.tools.map(({ name }) => name.replace("/", "__"));
    for (const tool of ["task_add", "task_update", "task_close", "plan_start"])
      expect(offered).toContain(`mcp__nexus__nx_${tool}`);
    expect(offered).toContain("apply_patch");
    // session_end
    expect(place.has(".nexus/state/nutcracker-codex/agent-tracker.json")).toBe(false);
    expect(place.has(".nexus/state/tool-log.jsonl")).toBe(false);
    expect(place.has(".nexus/state/tasks.json")).toBe(true);
    expect(place.read(".nexus/.gitignore")).toBe("state/\n");
  });

  it("holds a role to its limits, tracks it, and catches what its shell wrote", async ({ skip }) => {
    if (program === null) skip("codex could not be installed");
    const isTester = /# Tester/;
    await start(
      [
        {
          name: "sub-patch",
          when: { any: isTester, last: /TASK: check it/ },
          times: 1,
          reply: [{ tool: /^apply_patch$/, args: PATCH }],
        },
        {
          name: "sub-shell",
          when: { any: isTester, last: /may not change files \(apply_patch/ },
          times: 1,
          reply: [{ tool: /^exec_command$/, args: { cmd: "echo x > sub.txt" } }],
        },
        {
          name: "sub-add",
          when: { any: isTester, last: /this command would/ },
          times: 1,
          reply: [{ tool: /nx_task_update/, args: { id: 1, status: "in_progress" } }],
        },
        {
          name: "sub-script",
          when: { any: isTester, last: /"in_progress"|in_progress/ },
          times: 1,
          reply: [
            {
              tool: /^exec_command$/,
              args: { cmd: "node write.cjs; ls; cat .nexus/state/nutcracker-codex/agent-tracker.json" },
            },
          ],
        },
        { name: "sub-end", when: { any: isTester }, reply: ["VERDICT: pass"] },
        {
          name: "spawn",
          when: { last: /please check/ },
          times: 1,
          reply: [{ tool: /spawn_agent$/, args: { agent_type: "tester", message: "TASK: check it" } }],
        },
        {
          name: "wait",
          when: { last: /agent_id/ },
          times: 1,
          reply: ({ last }) => [{ tool: /wait_agent$/, args: { targets: [agentId(last)], timeout_ms: 60_000 } }],
        },
        { name: "end", when: { last: /VERDICT/ }, reply: ["all done"] },
      ],
      { "write.cjs": "require('fs').writeFileSync('sneaky.txt', 'x')\n" },
    );
    await place.nexusHere(
      "call",
      "task_add",
      JSON.stringify({ title: "check it", context: "c", owner: "tester", acceptance: "it works" }),
    );
    const ran = await codex("please check");
    expect(ran.exit, ran.stderr).toBe(0);
    expect(model.used()).toEqual(
      expect.arrayContaining(["spawn", "wait", "sub-patch", "sub-shell", "sub-add", "sub-script", "sub-end", "end"]),
    );
    expect(said("sub-patch")).toContain("Report to Lead");
    expect(said("sub-shell")).toContain("may not change files");
    expect(said("sub-add")).toContain("redirection >");
    expect(said("sub-end")).toContain('"agent_name": "tester"');
    expect(said("sub-end")).toContain('"status": "running"');
    for (const file of ["sub.txt", "sneaky.txt"]) expect(place.has(file), file).toBe(false);
    expect(place.read("a.txt")).toBe("hello\n");
    // Lead is told that nobody verified
    expect(said("end")).toContain("acceptance that nobody verified");
    expect(place.json(".nexus/state/tasks.json")).toMatchObject({ tasks: [{ id: 1, status: "in_progress" }] });
  });

  it("has the server refuse what the gate did not see", async ({ skip }) => {
    if (program === null) skip("codex could not be installed");
    const isTester = /# Tester/;
    await start([
      {
        name: "sub-add",
        when: { any: isTester, last: /TASK: check it/ },
        times: 1,
        reply: [{ tool: /nx_task_add/, args: { title: "more", context: "c" } }],
      },
      { name: "sub-end", when: { any: isTester }, reply: ["VERDICT: pass"] },
      {
        name: "spawn",
        when: { last: /set up the harness for a project/ },
        times: 1,
        reply: [{ tool: /spawn_agent$/, args: { agent_type: "tester", message: "TASK: check it" } }],
      },
      {
        name: "wait",
        when: { last: /agent_id/ },
        times: 1,
        reply: ({ last }) => [{ tool: /wait_agent$/, args: { targets: [agentId(last)], timeout_ms: 60_000 } }],
      },
      { name: "end", when: { last: /VERDICT/ }, reply: ["all done"] },
    ]);
    // Nobody has trusted the hooks yet, and Codex itself says so.
    const path = { PATH: `${dirname(program!)}:${process.env.PATH}` };
    const doctor = await place.nexusWith(path, "doctor", "codex", "--json");
    expect(JSON.parse(doctor.stdout).checks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ what: "codex program", state: "ok" }),
        expect.objectContaining({
          what: "codex project trust",
          message: expect.stringMatching(/^9 of 9 hooks are not/),
        }),
      ]),
    );
    const { PreToolUse: _, ...rest } = (place.json(".codex/hooks.json") as { hooks: Record<string, unknown> }).hooks;
    place.write(".codex/hooks.json", JSON.stringify({ hooks: rest }));
    // A person starts a manual skill by its name.
    const ran = await codex("$nx-setup please check");
    expect(ran.exit, ran.stderr).toBe(0);
    expect(said("sub-end")).toMatch(/not for the role|ROLE_DENIED/);
    expect(place.has(".nexus/state/tasks.json")).toBe(false);
  });

  it("puts back what slipped through where there is no sandbox", async ({ skip }) => {
    if (program === null) skip("codex could not be installed");
    const isTester = /# Tester/;
    await start(
      [
        {
          name: "sub-script",
          when: { any: isTester, last: /TASK: check it/ },
          times: 1,
          reply: [{ tool: /^exec_command$/, args: { cmd: "node write.cjs; cat sneaky.txt" } }],
        },
        { name: "sub-end", when: { any: isTester }, reply: ["VERDICT: pass"] },
        {
          name: "spawn",
          when: { last: /please check/ },
          times: 1,
          reply: [{ tool: /spawn_agent$/, args: { agent_type: "tester", message: "TASK: check it" } }],
        },
        {
          name: "wait",
          when: { last: /agent_id/ },
          times: 1,
          reply: ({ last }) => [{ tool: /wait_agent$/, args: { targets: [agentId(last)], timeout_ms: 60_000 } }],
        },
        { name: "end", when: { last: /VERDICT/ }, reply: ["all done"] },
      ],
      {
        "write.cjs":
          "for (const [name, text] of [['sneaky.txt', 'CAUGHT'], ['a.txt', 'changed']]) require('fs').writeFileSync(name, text)\n",
      },
    );
    // Without the host's own sandbox and without ours: only the comparison of the tree is left.
    place.write(
      ".codex/agents/tester.toml",
      place.read(".codex/agents/tester.toml").replace('sandbox_mode = "read-only"\n', ""),
    );
    await place.nexusHere("call", "task_add", JSON.stringify({ title: "check it", context: "c" }));
    const ran = await place.run(
      program!,
      ["exec", "-C", place.root, "--json", "--dangerously-bypass-hook-trust", "please check"],
      { NEXUS_SANDBOX: "off" },
    );
    expect(ran.exit, ran.stderr).toBe(0);
    expect(said("sub-end")).toContain("CAUGHT");
    expect(place.has("sneaky.txt")).toBe(false);
    expect(place.read("a.txt")).toBe("hello\n");
    expect(said("end")).toContain("put back");
  });

  it("lives in the plugin as well, installed from its marketplace", async ({ skip }) => {
    if (program === null) skip("codex could not be installed");
    await start([
      { name: "patch", when: { last: /go on/ }, times: 1, reply: [{ tool: /^apply_patch$/, args: PATCH }] },
      {
        name: "call",
        when: { last: /apply_patch would change/ },
        times: 1,
        reply: [{ tool: /nx_task_list/, args: {} }],
      },
      { name: "end", reply: ["all done"] },
    ]);
    expect((await place.nexusHere("setup", "codex", "--remove")).exit).toBe(0);
    const settings = join(place.home, ".codex/config.toml");
    writeFileSync(settings, readFileSync(settings, "utf8").replace("plugins = false", "plugins = true"));
    const market = await marketIn(place);
    const added = await place.run(program!, ["plugin", "marketplace", "add", market]);
    expect(added.exit, added.stderr).toBe(0);
    expect((await place.run(program!, ["plugin", "add", "nutcracker@nutcracker"])).exit).toBe(0);
    const ran = await codex("[run] go on");
    expect(ran.exit, ran.stderr).toBe(0);
    expect(model.used()).toEqual(["patch", "call", "end"]);
    expect(said("patch")).toContain("Skill nx-run is now active");
    expect(said("end")).toContain("exists");
    expect(place.read("a.txt")).toBe("hello\n");
  });

  it("restores the session's snapshot after a compaction, and is told once of open tasks when it stops", async ({
    skip,
  }) => {
    if (program === null) skip("codex could not be installed");
    await start(
      [
        {
          name: "compaction",
          bare: true,
          when: { last: /CONTEXT CHECKPOINT|summar/i, any: /CONTEXT CHECKPOINT/ },
          times: 2,
          reply: ["SUMMARY-OF-SESSION"],
        },
        { name: "after", when: { any: /SUMMARY-OF-SESSION/ }, reply: ["went on"] },
        {
          name: "call",
          when: { last: /go on/ },
          times: 1,
          inputTokens: 90_000,
          reply: [{ tool: /nx_task_list/, args: {} }],
        },
      ],
      {},
      "model_auto_compact_token_limit = 50000",
    );
    await place.nexusHere(
      "call",
      "task_add",
      JSON.stringify({ title: "a task to remember", context: "c", goal: "the goal" }),
    );
    const ran = await codex("[run] go on");
    expect(ran.exit, ran.stderr).toBe(0);
    expect(model.used()).toEqual(expect.arrayContaining(["call", "compaction", "after"]));
    const after = model.requests.find(({ rule }) => rule === "after")!;
    expect(after.any).toContain("restored from its files");
    expect(after.any).toContain("Active skill: nx-run");
    expect(after.any).toContain("a task to remember");
    expect(model.requests.filter(({ last }) => last.includes("tasks are still open"))).toHaveLength(1);
  });
});
