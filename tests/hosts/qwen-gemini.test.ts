// Qwen Code and Gemini CLI with everything nexus setup gives them, on a scripted model: nothing is a stand-in but the model.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { clientProgram, newPlace, type Place } from "./clients.js";
import { type Reply, type Rule, type ScriptedModel, scriptedModel } from "./scripted-model/server.js";

interface Program {
  readonly name: "qwen" | "gemini";
  readonly settings: object;
  readonly args: readonly string[];
  env(url: string): Record<string, string>;
  readonly tool: string;
  /** What everyone is told, and the variable that moves a person's own folder. */
  readonly memory: string;
  readonly home: string;
  readonly spawn: (role: string, prompt: string) => Reply;
  readonly report: Reply;
}

const SHELL = /^run_shell_command$/;
const PROGRAMS: readonly Program[] = [
  {
    name: "qwen",
    settings: { theme: "mine" },
    args: ["-y", "-o", "stream-json"],
    env: (url) => ({
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_MODEL: "scripted",
      QWEN_CODE_NO_RELAUNCH: "true",
    }),
    tool: "mcp__nexus__nx_",
    memory: "QWEN.md",
    home: "QWEN_HOME",
    spawn: (role, prompt) => ({ tool: /^agent$/, args: { subagent_type: role, description: "d", prompt } }),
    report: "the test fails",
  },
  {
    name: "gemini",
    settings: { security: { auth: { selectedType: "gemini-api-key" } }, privacy: { usageStatisticsEnabled: false } },
    args: ["-y", "-o", "json", "-p"],
    env: (url) => ({
      GEMINI_API_KEY: "none",
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_MODEL: "gemini-2.5-pro",
      GEMINI_CLI_NO_RELAUNCH: "true",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
    tool: "mcp_nexus_nx_",
    memory: "GEMINI.md",
    home: "GEMINI_CLI_HOME",
    spawn: (role, prompt) => ({ tool: /^invoke_agent$/, args: { agent_name: role, prompt } }),
    report: { tool: /^complete_task$/, args: { result: "the test fails" } },
  },
];

const open: { place?: Place; model?: ScriptedModel } = {};
afterEach(async () => {
  await open.model?.close();
  open.place?.remove();
});

const TESTER = /You find out whether a piece of work really does what its acceptance says/;

describe.each(PROGRAMS)("$name (needs the real program)", (program) => {
  const path = clientProgram(program.name);
  const own = (place: Place) => join(place.home, `.${program.name}`, "settings.json");

  /** Roles of a project Gemini CLI has a person accept in a dialog, so those are set up for the person. */
  async function talk(message: string, scope: "project" | "user", rules: readonly Rule[]) {
    const place = newPlace({ "README.md": "hello\n" });
    const model = await scriptedModel(rules);
    Object.assign(open, { place, model });
    // A person's own folder lies where the variable says.
    const folder = join(place.home, "moved");
    const home = program.name === "qwen" ? join(folder, ".qwen") : folder;
    const env = { ...program.env(model.url), ...(scope === "user" ? { [program.home]: home } : {}) };
    place.write(
      `../home/${scope === "user" ? "moved/" : ""}.${program.name}/settings.json`,
      JSON.stringify(program.settings),
    );
    const setup = await place.nexusWith(env, "setup", program.name, "--scope", scope, "-y");
    expect(setup.exit, setup.stderr).toBe(0);
    const ran = await place.run(path!, [...program.args, message], env);
    expect(ran.exit, ran.stderr + ran.stdout).toBe(0);
    return { place, model };
  }

  const told = (rule: string) => open.model!.requests.find((request) => request.rule === rule)!;
  const answered = (rule: string) => open.model!.requests[open.model!.requests.indexOf(told(rule) as never) + 1]!.last;
  const write = (file_path: string, content = "x\n"): Reply => ({
    tool: /^write_file$/,
    args: { file_path, content },
  });
  const run = (command: string): Reply => ({ tool: SHELL, args: { command, description: "d", is_background: false } });

  it.skipIf(path === null)(
    "is told of the project, and edits nothing before there is a task but what a skill is for",
    async () => {
      const root = () => open.place!.root;
      const turn = (name: string, reply: () => Reply): Rule => ({ name, times: 1, reply: () => [reply()] });
      const marked = () => open.place!.read(program.memory).replace("Project knowledge is in", "Knowledge is in");
      const settings = `.${program.name}/settings.json`;
      let before = "";
      const { place } = await talk("/nx-setup [m] tabs are wide", "project", [
        turn("early", () => {
          before = open.place!.read(settings);
          return write(join(root(), "a.txt"));
        }),
        turn("sneaky", () => run("echo x > b.txt")),
        turn("read", () => ({ tool: /^read_file$/, args: { file_path: join(root(), program.memory) } })),
        turn("marked", () => write(join(root(), program.memory), marked())),
        turn("task", () => ({ tool: new RegExp(`^${program.tool}task_add$`), args: { title: "t", context: "c" } })),
        turn("now", () => write(join(root(), "c.txt"))),
        { name: "end", reply: ["done"] },
      ]);
      const any = told("early").any;
      const shown = [
        "This project is worked on with Nexus",
        "# nx-setup: set up the harness",
        "context files back in line",
      ];
      expect(shown.filter((text) => !any.includes(text))).toEqual([]);
      // A manual skill is offered to no model.
      expect(any.includes("Guided set-up of the harness")).toBe(false);
      expect(told("early").tools.map(({ name }) => name)).toContain(`${program.tool}task_add`);
      expect(answered("early")).toContain("while there is no task list");
      expect(answered("sneaky")).toContain("while there is no task list");
      expect(place.read(program.memory)).toContain("\nKnowledge is in");
      expect([place.has("a.txt"), place.has("b.txt"), place.has("c.txt")]).toEqual([false, false, true]);
      expect(place.json(".nexus/state/tasks.json")).toMatchObject({ tasks: [{ title: "t" }] });
      // The tag of the message was acted on: a lesson is kept.
      expect(readdirSync(join(place.root, ".nexus/memory")).filter((name) => name.endsWith(".md"))).toHaveLength(1);
      // The program leaves the project's settings as they are, and nothing beside them.
      expect(place.read(settings)).toBe(before);
      expect((await place.nexusHere("setup", program.name, "--remove", "-y")).exit).toBe(0);
      expect(place.has(`.${program.name}`)).toBe(false);
    },
    200_000,
  );

  it.skipIf(path === null)(
    "holds an agent to its role although it is not told who calls",
    async () => {
      const turn = (name: string, when: Rule["when"], reply: Reply): Rule => ({ name, when, times: 1, reply: [reply] });
      const tester = { system: TESTER };
      const lead = { not: TESTER };
      const task = { title: "t", context: "c", owner: "tester" };
      const { place } = await talk("test it", "user", [
        turn("task", lead, { tool: new RegExp(`^${program.tool}task_add$`), args: task }),
        turn("spawn", lead, program.spawn("tester", "check it")),
        turn("shell", tester, run("echo x > README.md")),
        turn("hidden", tester, run("python3 -c \"open('README.md','w').write('y')\"")),
        turn("plan", tester, {
          unoffered: `${program.tool}plan_start`,
          args: { topic: "t", issues: ["a"], research_summary: "r" },
        }),
        turn("look", tester, run("cat README.md")),
        turn("report", tester, program.report),
        turn("lead", lead, run("echo z > made.txt")),
        { name: "end", reply: ["done"] },
      ]);
      const offered = told("shell").tools.map(({ name }) => name);
      // What an agent is told at its start reaches the model only where it goes along with the prompt.
      expect(told("shell").any.includes("Your task is #1.")).toBe(program.name === "gemini");
      expect(offered).toContain("run_shell_command");
      expect(offered).not.toContain("write_file");
      expect(offered).not.toContain(`${program.tool}plan_start`);
      expect(answered("shell")).toContain("the tester role may not change files");
      expect(answered("hidden")).toMatch(/may not change files|Read-only file system/);
      expect(answered("plan")).toMatch(/not found|not available|only Lead/i);
      expect(answered("look")).toContain("hello");
      expect(place.read("README.md")).toBe("hello\n");
      expect(place.has(".nexus/state/plan.json")).toBe(false);
      // It has ended, and Lead is Lead again.
      expect(place.read("made.txt")).toBe("z\n");
      // Gemini CLI says when a session ends, and then the session's own files go.
      const tracker = `.nexus/state/nutcracker-${program.name}/agent-tracker.json`;
      if (program.name === "qwen")
        expect(place.json(tracker)).toMatchObject([{ agent_name: "tester", status: "completed" }]);
      else expect(place.has(tracker)).toBe(false);
    },
    200_000,
  );

  it.skipIf(path === null)(
    "is set up, looked at and left as it was",
    async () => {
      const place = newPlace();
      open.place = place;
      const mine = `{\n  // mine\n  "theme": "dark"\n}\n`;
      place.write(`../home/.${program.name}/settings.json`, mine);
      const doctor = () => place.nexusHere("doctor", program.name, "--json");
      for (const scope of ["project", "user"]) {
        const setup = await place.nexusHere("setup", program.name, "--scope", scope, "-y");
        expect(setup.exit, setup.stderr).toBe(0);
      }
      expect(place.read(`.${program.name}/settings.json`)).not.toContain(place.root);
      expect(readFileSync(own(place), "utf8")).toContain("// mine");
      const before = await doctor();
      expect(before.exit, before.stdout).toBe(0);
      const remove = async (scope: string) =>
        expect((await place.nexusHere("setup", program.name, "--scope", scope, "--remove", "-y")).exit).toBe(0);
      // First, since doctor runs every hook of whatever is set up.
      await remove("user");
      expect(readFileSync(own(place), "utf8")).toBe(mine);
      const settings = JSON.parse(place.read(`.${program.name}/settings.json`)) as Record<string, unknown>;
      const off = program.name === "qwen" ? { disableAllHooks: true } : { hooksConfig: { enabled: false } };
      writeFileSync(join(place.root, `.${program.name}/settings.json`), JSON.stringify({ ...settings, ...off }));
      expect(await doctor()).toMatchObject({ exit: 1, stdout: expect.stringContaining("switches all hooks off") });
      await remove("project");
      expect(place.has(`.${program.name}/agents`)).toBe(false);
    },
    60_000,
  );
});
