// Nexus inside the real OpenCode, driven by a scripted model on loopback.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { clientProgram, emptyCatalogue, newPlace, type Place, type Ran } from "./clients.js";
import { marketIn } from "./market.js";
import { type Rule, type ScriptedModel, scriptedModel } from "./scripted-model/server.js";

let program: string | null;
let place: Place;
let model: ScriptedModel;

beforeAll(() => {
  program = clientProgram("opencode");
}, 300_000);

afterEach(async () => {
  await model?.close();
  place?.remove();
});

async function start(
  rules: (root: string) => readonly Rule[],
  files: Readonly<Record<string, string>> = {},
  scope: "project" | "user" = "project",
): Promise<void> {
  place = newPlace({ "a.txt": "hello\n", ...files });
  model = await scriptedModel(rules(place.root));
  const settings = join(place.home, ".config/opencode");
  const scripted = {
    npm: "@ai-sdk/openai-compatible",
    name: "scripted",
    options: { baseURL: `${model.url}/v1`, apiKey: "none" },
    models: { scripted: { name: "scripted", limit: { context: 32_000, output: 4_096 } } },
  };
  for (const folder of [settings, join(place.root, ".opencode")]) pretendInstalled(folder);
  for (const [path, text] of Object.entries(emptyCatalogue("../home"))) place.write(path, text);
  writeFileSync(
    join(settings, "opencode.json"),
    JSON.stringify({
      model: "scripted/scripted",
      provider: { scripted },
      share: "disabled",
      autoupdate: false,
      // A person's own server of our name.
      mcp: { nexus: { type: "local", command: ["mine"], enabled: false } },
    }),
  );
  expect((await place.nexusHere("setup", "opencode", "--scope", scope)).exit).toBe(0);
}

/** OpenCode installs its plugin package into these folders and waits for the network when it is not there. */
function pretendInstalled(folder: string): void {
  const name = "@opencode-ai/plugin";
  mkdirSync(join(folder, "node_modules", name), { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ dependencies: { [name]: "1.18.33" } }));
  writeFileSync(join(folder, "node_modules", name, "package.json"), JSON.stringify({ name, version: "1.18.33" }));
  const packages = { "": { dependencies: { [name]: "1.18.33" } }, [`node_modules/${name}`]: { version: "1.18.33" } };
  writeFileSync(
    join(folder, "package-lock.json"),
    JSON.stringify({ name: "x", lockfileVersion: 3, requires: true, packages }),
  );
}

const QUIET = Object.fromEntries(
  ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE"].map((name) => [
    `OPENCODE_DISABLE_${name}`,
    "1",
  ]),
);
const opencode = (words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  place.run(program!, ["run", "--dir", place.root, "--format", "json", ...words], { ...QUIET, ...env });

const seen = (rule: string) => model.requests.find((request) => request.rule === rule);
const said = (rule: string): string => seen(rule)?.last ?? "";
const bash = (command: string) => ({ tool: /^bash$/, args: { command, description: "x" } });
const spawn = { tool: /^task$/, args: { subagent_type: "tester", prompt: "TASK: check it", description: "check" } };
const isTester = /# Tester/;

describe("inside OpenCode", { timeout: 180_000 }, () => {
  it("tells the model where it is, injects the skill of [plan], refuses unplanned edits, and tidies up", async ({
    skip,
  }) => {
    if (program === null) skip("opencode could not be installed");
    await start(
      (root) => [
        {
          name: "plan",
          when: { last: /make it faster/ },
          times: 1,
          reply: [{ tool: /nx_plan_start/, args: { topic: "speed", issues: ["how"], research_summary: "none" } }],
        },
        {
          name: "write",
          when: { last: /plan_id/ },
          times: 1,
          reply: [{ tool: /^write$/, args: { filePath: join(root, "b.txt"), content: "x" } }],
        },
        { name: "shell", when: { last: /write would change/ }, times: 1, reply: [bash("echo x > b.txt")] },
        {
          name: "add",
          when: { last: /redirection/ },
          times: 1,
          reply: [{ tool: /nx_task_add/, args: { title: "edit a", context: "c" } }],
        },
        {
          name: "again",
          when: { last: /edit a/ },
          times: 1,
          reply: [{ tool: /^write$/, args: { filePath: join(root, "c.txt"), content: "allowed" } }],
        },
        {
          name: "log",
          when: { last: /Wrote|success|c\.txt/i },
          times: 1,
          reply: [bash("sleep 2; cat .nexus/state/tool-log.jsonl .nexus/state/edit-tracker.json")],
        },
        { name: "end", reply: ["all done"] },
      ],
      { ".nexus/rules/general.md": "- be kind\n" },
    );
    const ran = await opencode(["[plan] make it faster"]);
    expect(ran.exit, ran.stderr).toBe(0);
    expect(model.used()).toEqual(["plan", "write", "shell", "add", "again", "log", "end"]);
    for (const text of ["This project works with Nexus", ".nexus/rules/general.md", "Skill nx-plan is now active"])
      expect(said("plan")).toContain(text);
    expect(said("shell")).toContain("no task list");
    expect(said("add")).toContain("no task list");
    expect(place.has("b.txt")).toBe(false);
    expect(place.read("c.txt")).toBe("allowed");
    expect(said("end")).toContain('"tool":"plan_start"');
    expect(said("end")).toContain('"path":"c.txt"');
    // names are those the host registered; a manual skill is offered to nobody
    const offered = seen("plan")!.tools.map(({ name }) => name);
    expect(offered).toEqual(
      expect.arrayContaining(["nexus_nx_task_add", "nexus_nx_task_close", "write", "edit", "task"]),
    );
    for (const text of ["This project is worked on with Nexus", "nx-sync"]) expect(seen("plan")!.any).toContain(text);
    expect(seen("plan")!.any).not.toContain("nx-setup");
    for (const file of ["agent-tracker.json", "sessions.json"])
      expect(place.has(`.nexus/state/nutcracker-opencode/${file}`)).toBe(false);
    expect(place.has(".nexus/state/tool-log.jsonl")).toBe(false);
    expect(place.has(".nexus/state/tasks.json")).toBe(true);
  });

  it("holds a role to its limits, tracks it, and catches what its shell wrote", async ({ skip }) => {
    if (program === null) skip("opencode could not be installed");
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
          reply: [
            bash("node write.cjs; echo ROLE=$NEXUS_ROLE; cat .nexus/state/nutcracker-opencode/agent-tracker.json"),
          ],
        },
        { name: "sub-end", when: { system: isTester }, reply: ["VERDICT: pass"] },
        { name: "spawn", when: { last: /# nx-setup: set up[\s\S]*please check/ }, times: 1, reply: [spawn] },
        { name: "end", when: { last: /VERDICT/ }, reply: ["all done"] },
      ],
      { "write.cjs": "require('fs').writeFileSync('sneaky.txt', 'x')\n" },
      "user",
    );
    await place.nexusHere(
      "call",
      "task_add",
      JSON.stringify({ title: "check it", context: "c", owner: "tester", acceptance: "it works" }),
    );
    // A person starts a manual skill by its slash command.
    const ran = await opencode(["--command", "nx-setup", "please check"]);
    expect(ran.exit, ran.stderr).toBe(0);
    expect(model.used()).toEqual(["spawn", "sub-shell", "sub-script", "sub-end", "end"]);
    expect(said("sub-shell")).toContain("Report to Lead");
    expect(said("sub-script")).toContain("redirection >");
    expect(said("sub-end")).toContain("ROLE=tester");
    expect(said("sub-end")).toContain('"status": "running"');
    for (const file of ["sub.txt", "sneaky.txt"]) expect(place.has(file), file).toBe(false);
    // the host's own configuration denies as well
    const offered = seen("sub-shell")!.tools.map(({ name }) => name);
    for (const name of ["write", "edit", "task", "nexus_nx_task_add", "nexus_nx_plan_start"])
      expect(offered).not.toContain(name);
    expect(offered).toContain("nexus_nx_task_list");
    expect(said("end")).toContain("acceptance that nobody verified");
    expect(place.json(".nexus/state/tasks.json")).toMatchObject({ tasks: [{ id: 1, status: "in_progress" }] });
  });

  it("puts back what slipped through, and restores the snapshot after a compaction", async ({ skip }) => {
    if (program === null) skip("opencode could not be installed");
    await start(
      () => [
        {
          name: "compaction",
          bare: true,
          when: { any: /restored from its files/ },
          times: 2,
          reply: ["SUMMARY-OF-SESSION"],
        },
        {
          name: "sub-script",
          when: { system: isTester, last: /TASK: check it/ },
          times: 1,
          reply: [bash("node write.cjs; cat sneaky.txt")],
        },
        { name: "sub-end", when: { system: isTester }, reply: ["VERDICT: pass"] },
        { name: "spawn", when: { last: /please check/ }, times: 1, reply: [spawn] },
        {
          name: "fill",
          when: { last: /VERDICT/ },
          times: 1,
          inputTokens: 31_000,
          reply: [{ tool: /nx_task_list/, args: {} }],
        },
        { name: "after", when: { any: /SUMMARY-OF-SESSION/ }, reply: ["went on"] },
        { name: "end", reply: ["all done"] },
      ],
      {
        "write.cjs":
          "for (const [name, text] of [['sneaky.txt', 'CAUGHT'], ['a.txt', 'changed']]) require('fs').writeFileSync(name, text)\n",
      },
    );
    await place.nexusHere("call", "task_add", JSON.stringify({ title: "a task to remember", context: "c" }));
    // The gate is the plugin of the package here, named in the settings.
    const market = await marketIn(place);
    rmSync(join(place.root, ".opencode/plugins/nexus.js"));
    const settings = place.json("opencode.json") as object;
    place.write("opencode.json", JSON.stringify({ ...settings, plugin: [join(market, "opencode/nexus.js")] }));
    const ran = await opencode(["[run] please check"], { NEXUS_SANDBOX: "off" });
    expect(ran.exit, ran.stderr).toBe(0);
    expect(said("sub-end")).toContain("CAUGHT");
    expect(place.has("sneaky.txt")).toBe(false);
    expect(place.read("a.txt")).toBe("hello\n");
    expect(said("fill")).toContain("put back");
    const after = seen("after");
    expect(after, model.used().join(" ")).toBeDefined();
    for (const text of ["restored from its files", "Active skill: nx-run", "a task to remember"])
      expect(after!.system).toContain(text);
  });
});
