// What a model that Codex ships is tried with, by the way it calls tools and the generation of agents it has. Which tools a
// model gets follows from its name in Codex's own catalogue.
import { spawnSync } from "node:child_process";
import { expect } from "vitest";
import { temporary } from "../temporary.js";
import type { Place } from "./clients.js";
import { codexPlace } from "./codex-place.js";
import type { Reply, Rule, ScriptedModel } from "./scripted-model/server.js";

const idIn = (text: string): string => /agent_id\\?":\s*\\?"([^"\\]+)/.exec(text)?.[1] ?? "none";

interface Call {
  readonly name: string;
  readonly set?: string;
  readonly args: Record<string, unknown>;
}
const call = (name: string, args: Record<string, unknown>, set?: string): Call => ({
  name,
  args,
  ...(set === undefined ? {} : { set }),
});
const shell = (cmd: string): Call => call("exec_command", { cmd, yield_time_ms: 10_000 });

/** Several calls from one script; what each gives, or how it was refused, is told. */
export const fromScript = (...calls: Call[]): Reply[] => [
  {
    tool: /^(?:functions\/)?exec$/,
    args: calls
      .map(({ name, set, args }) => `tools.${set === undefined ? name : `${set}__${name}`}(${JSON.stringify(args)})`)
      .map((line) => `try { text(await ${line}) } catch (e) { text(String(e)) }`)
      .join("\n"),
  },
];
/** The same one by one; tools a model has to search for are there all the same. */
export const byItself = (...calls: Call[]): Reply[] =>
  calls.map(({ name, set, args }) => ({ unoffered: name, args, ...(set === undefined ? {} : { namespace: set }) }));

export interface Generation {
  readonly calls: (...calls: Call[]) => Reply[];
  readonly spawn: (role: string | null, name: string, message: string) => Reply[];
  readonly wait: (last: string) => Reply[];
  /** Has an agent go on that has ended, by the name it was started with or its id. */
  readonly goOn: (name: string, id: string, message: string) => Reply[];
  readonly refused: RegExp;
}

const typed = (role: string | null) => (role === null ? {} : { agent_type: role });

/** Agents of the first generation have no tool to start others. */
export const FIRST = (calls: Generation["calls"]): Generation => ({
  calls,
  spawn: (role, _name, message) => calls(call("spawn_agent", { message, ...typed(role) }, "multi_agent_v1")),
  wait: (last) => calls(call("wait_agent", { targets: [idIn(last)], timeout_ms: 60_000 }, "multi_agent_v1")),
  goOn: (_name, id, message) =>
    calls(
      call("close_agent", { target: id }, "multi_agent_v1"),
      call("resume_agent", { id }, "multi_agent_v1"),
      call("send_input", { target: id, message }, "multi_agent_v1"),
    ),
  refused: /may not start agents|TypeError|unsupported call/,
});
export const SECOND: Generation = {
  calls: fromScript,
  spawn: (role, name, message) => [
    {
      tool: /^collaboration\/spawn_agent$/,
      args: { task_name: name, message, fork_turns: "none", ...typed(role) },
    },
  ],
  wait: () => [{ tool: /^collaboration\/wait_agent$/, args: { timeout_ms: 60_000 } }],
  goOn: (name, _id, message) => [{ tool: /^collaboration\/followup_task$/, args: { target: name, message } }],
  refused: /may not start agents/,
};

/** Every model Codex knows without asking anybody, and what kind it is of. */
export function shippedModels(program: string): [slug: string, generation: Generation][] {
  const { stdout } = spawnSync(program, ["debug", "models", "--bundled"], {
    encoding: "utf8",
    env: { ...process.env, CODEX_HOME: temporary("nut-codex-") },
    maxBuffer: 16 * 1024 ** 2,
  });
  const { models } = JSON.parse(stdout) as {
    models: { slug: string; tool_mode?: string; multi_agent_version?: string }[];
  };
  return models.map(({ slug, tool_mode, multi_agent_version }) => [
    slug,
    multi_agent_version === "v2" ? SECOND : FIRST(tool_mode === "code_mode_only" ? fromScript : byItself),
  ]);
}

interface Tried {
  readonly place: Place;
  readonly model: ScriptedModel;
}

/** Has a session end; throws when it went otherwise than it should. */
type Trial = (program: string, slug: string, generation: Generation, opened: (tried: Tried) => void) => Promise<void>;

const FILES = { "write.cjs": "require('fs').writeFileSync('sneaky.txt', 'x')\n" };
// The host's own sandbox, as people have it: ours cannot start inside it when the person is root.
const SETTINGS = 'sandbox_mode = "workspace-write"';

async function session(program: string, slug: string, rules: readonly Rule[], opened: (tried: Tried) => void) {
  const { place, model } = await codexPlace(rules, { slug, settings: SETTINGS, files: FILES });
  opened({ place, model });
  const words = ["exec", "-C", place.root, "--json", "--dangerously-bypass-hook-trust", "please begin"];
  const ran = await place.run(program, words);
  expect(ran.exit, ran.stderr).toBe(0);
  const said = (rule: string): string => model.requests.find((request) => request.rule === rule)?.last ?? "";
  return { place, model, said };
}

/** Lead, an engineer and a tester, each at what they may and may not do; then the tester goes on after its end. */
export const everyRole: Trial = async (program, slug, { calls, spawn, wait, goOn, refused }, opened) => {
  // Of the agent that was started last.
  let id = "none";
  const rules: Rule[] = [
    {
      name: "lead",
      when: { last: /please begin/ },
      times: 1,
      reply: calls(
        shell("sh"),
        shell("python3 -i"),
        shell("cat a.txt"),
        call("create_goal", { objective: "x" }),
        call("nx_task_add", { title: "t", context: "c" }, "mcp__nexus"),
      ),
    },
    {
      name: "spawn-engineer",
      when: { last: /takes further commands/ },
      times: 1,
      reply: spawn("engineer", "eng", "ENGINEER GO"),
    },
    { name: "engineer", when: { last: /ENGINEER GO/ }, times: 1, reply: spawn(null, "grand", "CHILD GO") },
    { name: "child", when: { last: /CHILD GO/ }, times: 1, reply: calls(shell("echo x > child.txt")) },
    { name: "engineer-end", when: { last: refused }, times: 1, reply: ["ENGINEER DONE"] },
    {
      name: "spawn-tester",
      when: { last: /ENGINEER DONE/ },
      times: 1,
      reply: spawn("tester", "tst", "TESTER GO"),
    },
    {
      name: "tester",
      when: { last: /TESTER GO/ },
      times: 1,
      reply: calls(shell("head -1 a.txt"), shell("echo x > tested.txt"), shell("node write.cjs")),
    },
    {
      name: "tester-on",
      when: { last: /GO ON TESTER/ },
      times: 1,
      reply: calls(shell("tail -1 a.txt"), shell("echo x > again.txt"), shell("node write.cjs")),
    },
    { name: "tester-end", when: { any: /# Tester/, not: /GO ON TESTER/ }, reply: ["TESTER DONE"] },
    { name: "tester-again", when: { any: /# Tester/ }, reply: ["SECOND DONE"] },
    { name: "go-on", when: { last: /TESTER DONE/ }, times: 1, reply: () => goOn("tst", id, "GO ON TESTER") },
    { name: "end", when: { last: /SECOND DONE/ }, reply: ["all done"] },
    {
      name: "wait",
      times: 8,
      reply: ({ last }) => {
        const found = idIn(last);
        id = found === "none" ? id : found;
        return wait(`agent_id": "${id}"`);
      },
    },
  ];
  const { place, model, said } = await session(program, slug, rules, opened);
  const lead = said("spawn-engineer");
  expect(lead.match(/takes further commands, and no hook is told of them/g), lead).toHaveLength(2);
  expect(lead).toContain("hello");
  expect(said("engineer-end"), model.used().join()).toMatch(refused);
  expect(model.used()).not.toContain("child");
  expect(said("tester-end"), model.used().join()).toContain("hello");
  expect(said("tester-end")).toContain("this command would");
  expect(model.used(), model.used().join()).toContain("end");
  const again = said("tester-again");
  expect(again).toContain("hello");
  expect(again).toContain("this command would");
  for (const file of ["child.txt", "tested.txt", "again.txt", "sneaky.txt"]) expect(place.has(file), file).toBe(false);
  expect(place.json(".nexus/state/tasks.json")).toMatchObject({ tasks: [{ id: 1, title: "t" }] });
};
