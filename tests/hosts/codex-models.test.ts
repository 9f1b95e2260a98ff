// Nexus inside the real Codex with the models it ships: nearly all of them run their tools from a script ("code mode") and
// have the second generation of agents. Which tools a model gets follows from its name in Codex's own catalogue.
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { clientProgram, type Place, type Ran } from "./clients.js";
import { codexPlace } from "./codex-place.js";
import type { Reply, Rule, ScriptedModel } from "./scripted-model/server.js";

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

const codex = (prompt: string): Promise<Ran> =>
  place.run(program!, ["exec", "-C", place.root, "--json", "--dangerously-bypass-hook-trust", prompt]);
const said = (rule: string): string => model.requests.find((request) => request.rule === rule)?.last ?? "";
const idIn = (text: string): string => /agent_id\\?":\s*\\?"([^"\\]+)/.exec(text)?.[1] ?? "none";

/** A script of several tool calls; what each gives, or how it was refused, is told. */
const script = (...calls: string[]): Reply => ({
  tool: /^(?:functions\/)?exec$/,
  args: calls.map((call) => `try { text(await ${call}) } catch (e) { text(String(e)) }`).join("\n"),
});
const shell = (cmd: string): string => `tools.exec_command(${JSON.stringify({ cmd, yield_time_ms: 800 })})`;

/** The first generation of agents is reached from a script, too. */
const nested = (name: string, args: object): string =>
  `tools[ALL_TOOLS.find((tool) => tool.name.endsWith(${JSON.stringify(name)})).name](${JSON.stringify(args)})`;

const GENERATIONS = {
  "gpt-6.1-sol": {
    spawn: (role: string | null, name: string, message: string): Reply => ({
      tool: /^collaboration\/spawn_agent$/,
      args: { task_name: name, message, fork_turns: "none", ...(role === null ? {} : { agent_type: role }) },
    }),
    wait: (): Reply => ({ tool: /^collaboration\/wait_agent$/, args: { timeout_ms: 60_000 } }),
    refused: /may not start agents/,
  },
  "gpt-5.6-luna": {
    spawn: (role: string | null, _name: string, message: string): Reply =>
      script(nested("spawn_agent", { message, ...(role === null ? {} : { agent_type: role }) })),
    wait: (last: string): Reply => script(nested("wait_agent", { targets: [idIn(last)], timeout_ms: 60_000 })),
    // An agent of the first generation has no such tool at all.
    refused: /may not start agents|TypeError/,
  },
} as const;

describe("inside Codex, with the models it ships", { timeout: 180_000 }, () => {
  it.each(Object.keys(GENERATIONS) as (keyof typeof GENERATIONS)[])(
    "holds Lead, an engineer and a tester to what they may: %s",
    async (slug) => {
      if (program === null) throw new Error("codex could not be installed");
      const { spawn, wait, refused } = GENERATIONS[slug];
      const rules: Rule[] = [
        {
          name: "lead",
          when: { last: /please begin/ },
          times: 1,
          reply: [
            script(
              shell("sh"),
              shell("python3 -i"),
              shell("cat a.txt"),
              "tools.create_goal({ objective: 'x' })",
              'tools.mcp__nexus__nx_task_add({ title: "t", context: "c" })',
            ),
          ],
        },
        {
          name: "spawn-engineer",
          when: { last: /takes further commands/ },
          times: 1,
          reply: [spawn("engineer", "eng", "ENGINEER GO")],
        },
        { name: "engineer", when: { last: /ENGINEER GO/ }, times: 1, reply: [spawn(null, "grand", "CHILD GO")] },
        { name: "child", when: { last: /CHILD GO/ }, times: 1, reply: [script(shell("echo x > child.txt"))] },
        { name: "engineer-end", when: { last: refused }, times: 1, reply: ["ENGINEER DONE"] },
        {
          name: "spawn-tester",
          when: { last: /ENGINEER DONE/ },
          times: 1,
          reply: [spawn("tester", "tst", "TESTER GO")],
        },
        {
          name: "tester",
          when: { last: /TESTER GO/ },
          times: 1,
          reply: [script(shell("head -1 a.txt"), shell("echo x > tested.txt"), shell("node write.cjs"))],
        },
        { name: "tester-end", when: { any: /# Tester/ }, reply: ["TESTER DONE"] },
        { name: "end", when: { last: /TESTER DONE/ }, reply: ["all done"] },
        { name: "wait", when: { last: /task_name|agent_id/ }, times: 3, reply: ({ last }) => [wait(last)] },
      ];
      // The host's own sandbox, as people have it: ours cannot start inside it when the person is root.
      ({ place, model } = await codexPlace(rules, {
        slug,
        settings: 'sandbox_mode = "workspace-write"',
        files: { "write.cjs": "require('fs').writeFileSync('sneaky.txt', 'x')\n" },
      }));
      const ran = await codex("please begin");
      expect(ran.exit, ran.stderr).toBe(0);
      const lead = said("spawn-engineer");
      expect(lead.match(/takes further commands, and no hook is told of them/g), lead).toHaveLength(2);
      expect(lead).toContain("hello");
      expect(said("engineer-end"), model.used().join()).toMatch(refused);
      expect(model.used()).not.toContain("child");
      expect(said("tester-end"), model.used().join()).toContain("hello");
      expect(said("tester-end")).toContain("this command would");
      for (const file of ["child.txt", "tested.txt", "sneaky.txt"]) expect(place.has(file), file).toBe(false);
      expect(place.json(".nexus/state/tasks.json")).toMatchObject({ tasks: [{ id: 1, title: "t" }] });
    },
  );
});
