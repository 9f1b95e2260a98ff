// The same request through real agents, with a model that says what it is told: nothing here is a stand-in but the model.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { pathWith } from "../drivers/clients.js";
import { type Step, sequence } from "../drivers/sequence.js";
import { type ScriptedModel, scriptedModel } from "../hosts/scripted-model/server.js";
import { here } from "./here.js";
import { environment, runFolderOf, start, stateOf } from "./program.js";
import { helloRequest, put } from "./scripted.js";

// Not below /tmp: agents get a /tmp of their own, and Codex refuses to keep programs there.
const open: { folder?: string; model?: ScriptedModel } = {};
afterEach(async () => {
  await open.model?.close();
  if (open.folder !== undefined) rmSync(open.folder, { recursive: true, force: true });
});

const variables = (name: string, url: string): Record<string, string> =>
  name === "claude" ? { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "none", ANTHROPIC_MODEL: "scripted" } : {};

type Fields = Record<string, unknown>;

const AGENTS = {
  claude: {
    write: { tool: /^Bash$/, args: { command: "echo hello world > files/hello.txt", description: "greet" } },
    settings: () => ({}),
    report: (value: Fields): Step[] => [{ tool: /^StructuredOutput$/, args: value }],
  },
  codex: {
    report: (value: Fields): Step[] => [JSON.stringify(value)],
    write: { unoffered: "exec_command", args: { cmd: "echo hello world > files/hello.txt" } },
    settings: (url: string) => ({
      ".codex/config.toml": [
        'model = "scripted"',
        'model_provider = "s"',
        "[model_providers.s]",
        'name = "s"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        "request_max_retries = 0",
        "stream_max_retries = 0",
        "supports_websockets = false",
      ].join("\n"),
    }),
  },
  opencode: {
    report: (value: Fields): Step[] => [{ tool: /nx_report$/, args: value }, "That is all."],
    write: { unoffered: "bash", args: { command: "echo hello world > files/hello.txt", description: "greet" } },
    settings: (url: string) => ({
      ".config/opencode/opencode.json": JSON.stringify({
        model: "s/m",
        provider: {
          s: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${url}/v1`, apiKey: "none" },
            models: { m: { name: "m" } },
          },
        },
      }),
    }),
  },
} as const;

const fields = { decisions: [], issues: [] };
const WORKED = { ...fields, summary: "it greets", decisions: [{ decision: "one line", reason: "one is enough" }] };
const TESTED = { ...fields, summary: "nothing to complain about", verdict: "pass", items: [] };
const REVIEWED = {
  ...fields,
  summary: "it holds",
  verdict: "pass",
  items: [{ number: 1, status: "passed", evidence: 'files/hello.txt:1 "hello world"' }],
};

for (const name of ["claude", "codex", "opencode"] as const) {
  const path = pathWith(name);
  describe.skipIf(path === null)(`a run with ${name} (needs the real program)`, () => {
    it("works in roles, reports in fields, and is proven by the harness", async () => {
      const { write, settings, report } = AGENTS[name];
      const turns: Step[] = [
        write as Step,
        ...report(WORKED),
        // Words alone are heard as well.
        ...(name === "claude" ? report(TESTED) : ["VERDICT: pass\nSUMMARY: nothing to complain about"]),
        ...report(REVIEWED),
      ];
      const model = await scriptedModel(sequence(...turns));
      const folder = mkdtempSync("/var/tmp/nut-run-");
      Object.assign(open, { folder, model });
      const [cwd, home] = [join(folder, "project"), join(folder, "home")];
      mkdirSync(cwd);
      put(home, settings(model.url));
      const request = helloRequest(folder);
      const env = environment(home, { PATH: path!, ...variables(name, model.url) });
      const args = ["run", request, "--driver", name, "--plan", "default", "--jobs", "1", "-o", "out.nut"];
      const ran = await start(cwd, args, env).done;
      expect(ran.status, ran.stderr + ran.stdout).toBe(0);
      const { agents, decisions, spent } = stateOf(cwd);
      expect([...agents.keys()]).toEqual(["engineer-1", "tester-2", "reviewer-3"]);
      expect(agents.get("engineer-1")).toMatchObject({ end: { reported: true, structured: true, outcome: "done" } });
      expect(agents.get("engineer-1")?.session).toBeTruthy();
      expect(agents.get("tester-2")?.end?.structured).toBe(name === "claude" ? true : undefined);
      expect(agents.get("tester-2")?.end?.verdict).toBe("pass");
      expect(agents.get("reviewer-3")?.end).toMatchObject({
        structured: true,
        verdict: "pass",
        judgements: [{ item: "it greets", status: "passed" }],
      });
      expect(decisions).toContainEqual({ decision: "one line", reason: "one is enough" });
      expect(spent.tokens).toBeGreaterThan(0);
      expect(readFileSync(join(runFolderOf(cwd), "delivery/delivery/artifacts/files/hello.txt"), "utf8")).toBe(
        "hello world\n",
      );
      expect(model.requests[0]?.any).toContain("TASK: Say hello");
      expect((await here("nutshell", cwd, ["verify", "out.nut", "--request", request, "--rerun"])).stdout).toContain(
        "verified: completed",
      );
    }, 240_000);
  });
}
