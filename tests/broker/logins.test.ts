// The person's own key with an agent's vendor: the agent's program is told another address and has no key.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loginKeys } from "../../src/drivers/index.js";
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
