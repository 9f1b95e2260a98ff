// The person's own key with an agent's vendor: the agent's program is told another address and has no key.
import { request as ask, createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DriverName, loadDriver, loginKeys } from "../../src/drivers/index.js";
import type { Context } from "../../src/operation.js";
import { openSecrets } from "../../src/run/agents/credentials.js";
import { pathWith } from "../drivers/clients.js";
import { desk } from "../drivers/desk.js";
import { sequence } from "../drivers/sequence.js";
import { type ScriptedModel, scriptedModel } from "../hosts/scripted-model/server.js";
import { type Agent, helloRequest, put, scratch, sweep, world } from "../run/scripted.js";
import { SECRET, type Service, startService } from "./service.js";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service.close();
  sweep();
});

describe("a key with a vendor", () => {
  it("is used by an agent that does not have it", async () => {
    const env = { PATH: process.env.PATH ?? "", ANTHROPIC_API_KEY: SECRET, ANTHROPIC_BASE_URL: `${service.origin}/v1` };
    const root = scratch();
    helloRequest(root);
    const told: string[] = [];
    const agent: Agent = async (given) => {
      told.push(JSON.stringify(given.env));
      const answer = await fetch(`${given.env.ANTHROPIC_BASE_URL}/messages`, {
        method: "POST",
        body: "{}",
        headers: { "x-api-key": given.env.ANTHROPIC_API_KEY! },
      });
      told.push(await answer.text());
      if (given.role === "engineer") put(given.cwd, { "files/hello.txt": "hello world\n" });
      return "VERDICT: pass\n- [passed] 1: files/hello.txt says so";
    };
    const w = await world({
      root,
      agent,
      options: { yes: true, quick: true },
      env,
      runner: { keys: loginKeys("claude", env) },
    });
    await w.go();
    expect(service.seen[0]).toMatchObject({ method: "POST", url: "/v1/messages" });
    expect(service.seen[0]!.headers["x-api-key"]).toBe(SECRET);
    expect(told.join("\n")).not.toContain(SECRET);
    expect(told[0]).toContain('"ANTHROPIC_API_KEY":"used-through-the-broker"');
    expect(JSON.stringify(w.journal())).not.toContain(SECRET);
  });

  it.each([
    ["claude", { ANTHROPIC_API_KEY: SECRET }, ["ANTHROPIC_API_KEY https://api.anthropic.com"]],
    ["claude", { ANTHROPIC_API_KEY: SECRET, CLAUDE_CODE_USE_BEDROCK: "1" }, []],
    ["claude", { ANTHROPIC_API_KEY: SECRET, HTTPS_PROXY: "http://proxy:3128" }, []],
    ["claude", { ANTHROPIC_API_KEY: SECRET, ANTHROPIC_AUTH_TOKEN: SECRET }, []],
    ["claude", { ANTHROPIC_API_KEY: "none" }, []],
    ["codex", { OPENAI_API_KEY: SECRET }, []],
  ] as const)("of %s is lent where its address can be set: %j", (name, env, wanted) => {
    expect(loginKeys(name, env).map(({ variable, url }) => `${variable} ${url}`)).toEqual(wanted);
  });
});

/** The model's vendor: whoever comes by is noted with the key it brings. */
async function vendor(model: ScriptedModel): Promise<{ url: string; keys: Set<string>; server: Server }> {
  const keys = new Set<string>();
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    keys.add(String(headers["x-api-key"] ?? headers.authorization ?? ""));
    const out = ask(`${model.url}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    request.pipe(out);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys, server };
}

/** What a person has set for each program, and how its key comes to the vendor. */
const PROGRAMS: readonly {
  readonly name: "codex" | "opencode" | "claude";
  readonly env: (url: string) => Record<string, string>;
  readonly files: (url: string) => Record<string, string>;
  readonly shell: string;
  readonly comes: string;
}[] = [
  {
    name: "codex",
    env: () => ({ MODEL_KEY: SECRET, OPENAI_API_KEY: `other-${SECRET}` }),
    files: (url) => ({
      "person/.codex/config.toml": `model = "m"\nmodel_provider = "s"\nanalytics = { enabled = false }\n[model_providers.s]\nname = "s"\nbase_url = "${url}/v1"\nenv_key = "MODEL_KEY"\nwire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\nsupports_websockets = false\n`,
    }),
    shell: "exec_command",
    comes: `Bearer ${SECRET}`,
  },
  {
    name: "codex",
    env: (url) => ({ CODEX_API_KEY: SECRET, OPENAI_BASE_URL: `${url}/v1` }),
    files: () => ({ "person/.codex/config.toml": 'model = "m"\nanalytics = { enabled = false }\n' }),
    shell: "exec_command",
    comes: `Bearer ${SECRET}`,
  },
  {
    name: "opencode",
    env: () => ({ MODEL_KEY: SECRET, OPENROUTER_API_KEY: `other-${SECRET}` }),
    files: (url) => {
      const options = { baseURL: `${url}/v1`, apiKey: "{env:MODEL_KEY}" };
      const provider = { s: { npm: "@ai-sdk/openai-compatible", options, models: { m: { name: "m" } } } };
      return { "person/.config/opencode/opencode.json": JSON.stringify({ model: "s/m", provider }) };
    },
    shell: "bash",
    comes: `Bearer ${SECRET}`,
  },
  {
    name: "claude",
    env: (url) => ({ ANTHROPIC_API_KEY: SECRET, ANTHROPIC_BASE_URL: url }),
    files: () => ({}),
    shell: "Bash",
    comes: SECRET,
  },
];

const EVERYTHING = "env; cat /proc/*/environ | tr '\\0' '\\n'; cat ~/.codex/config.toml ~/.config/opencode/*";

describe.each(PROGRAMS)(
  "$name with a key that is lent (needs the real program)",
  ({ name, env, files, shell, comes }) => {
    it.skipIf(pathWith(name) === null)(
      "works, and has none",
      async () => {
        const words = { command: EVERYTHING, cmd: EVERYTHING, description: "look" };
        const model = await scriptedModel(sequence({ unoffered: shell, args: words }, "all done"));
        const { url, keys, server } = await vendor(model);
        const own = { PATH: pathWith(name)!, ...env(url) };
        const at = desk(own);
        at.put(files(url));
        const person = { ...own, HOME: `${at.folder}/person` };
        const driver: DriverName = name;
        const lent = [...loginKeys(driver, person), ...((await loadDriver(driver)).keys?.(person) ?? [])];
        const context = { env: {}, now: () => new Date(), progress: () => {} } as unknown as Context;
        const { secrets } = await openSecrets({
          request: at.folder,
          manifest: {} as never,
          identity: [],
          context,
          keys: lent,
        });
        try {
          const { env: extraEnv } = await secrets.admit("engineer-1", "engineer", lent);
          const way = Object.values(extraEnv).find((value) => value.startsWith("http://127.0.0.1:"))!;
          expect(secrets.scrub(`401, url: ${way}/responses`)).toBe(`401, url: ${lent[0]!.url}/responses`);
          const end = await at.run(driver, { extraEnv });
          expect(end, JSON.stringify([...keys])).toMatchObject({ outcome: "completed", text: "all done" });
          expect([...keys]).toEqual([comes]);
          const talk = model.requests.map(({ any }) => any).join("\n");
          expect(Object.values(extraEnv)).toContain("used-through-the-broker");
          expect(talk).not.toContain(SECRET);
        } finally {
          await secrets.close();
          server.close();
          at.remove();
          await model.close();
        }
      },
      60_000,
    );
  },
);
