// Credentials of a request in a run: which keys open them, who gets them, and what becomes of their values.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readManifest } from "../../src/bundle/index.js";
import { openSecrets } from "../../src/run/agents/credentials.js";
import type { AgentRequest } from "../../src/run/index.js";
import { Desk } from "../vault/run.js";
import { type Agent, helloRequest, put, scratch, sweep, world } from "./scripted.js";

const CANARY = "canary-9b1c7f30aa51";
const LATER = ["--expires", "2999-01-01T00:00:00Z"];

let root: string;
let desk: Desk;
let request: string;
let server: ChildProcess;
let address: string;
beforeAll(async () => {
  server = spawn(process.execPath, [fileURLToPath(new URL("../vault/transit-double.mjs", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(server.stdout!, "data")) as [Buffer];
  address = `http://127.0.0.1:${line.toString().trim()}`;
});
afterAll(() => {
  server.kill();
});
beforeEach(() => {
  root = scratch();
  desk = new Desk();
  request = helloRequest(root);
});
afterEach(() => {
  desk.remove();
  sweep();
});

const transit = (token: string) => ({ VAULT_ADDR: address, VAULT_TOKEN: token });

async function add(name: string, flags: readonly string[], env: Record<string, string> = {}): Promise<void> {
  const argv = [
    "add-credential",
    "--name",
    name,
    "--type",
    "bearer_token",
    ...flags,
    "--value-stdin",
    "--dir",
    request,
  ];
  const { code, err } = await desk.run(argv, { stdin: CANARY, env });
  expect(code, err).toBe(0);
}

const tries: AgentRequest[] = [];
const honest: Agent = (given) => {
  tries.push(given);
  if (given.role === "engineer") put(given.cwd, { "files/hello.txt": "hello world\n" });
  return "VERDICT: pass\n- [passed] 1: files/hello.txt says so";
};

async function run(
  agent: Agent = honest,
  options: { identity?: string[]; force?: boolean } = {},
  env: Record<string, string> = {},
) {
  tries.length = 0;
  for (const left of ["project", "delivery.nut"]) rmSync(join(root, left), { recursive: true, force: true });
  const w = await world({ root, agent, options: { yes: true, ...options }, env: { ...desk.env, ...env } });
  const { delivery } = await w.go();
  return { w, result: delivery!.result, issues: w.state().issues.map(({ message }) => message) };
}

describe("a vault of HashiCorp's", () => {
  const flags = ["--encryption", "vault", "--transit-key", "tasks", ...LATER];

  it("opens in a run with the person's own token, and every agent gets what is scoped", async () => {
    await add("api", flags, transit("t-good"));
    const { w, result } = await run(honest, {}, transit("t-good"));
    expect(result.status).toBe("completed");
    expect(tries.map(({ env }) => env.API)).toEqual([CANARY, CANARY, CANARY]);
    expect(tries[0]?.taskPrompt).toContain("CREDENTIALS (in your environment");
    expect(w.journal().filter(({ type }) => type === "credential_used")).toMatchObject(
      ["engineer-1", "tester-2", "reviewer-3"].map((agent) => ({ name: "api", agent })),
    );
    expect(result.execution_log?.credentials_used).toMatchObject([{ name: "api" }]);
    expect(readFileSync(w.folder.journal, "utf8")).not.toContain(CANARY);
  });

  it.each([
    ["t-denied", "the token may not use this key"],
    ["t-broken", "answered 503"],
  ])("that stays closed (%s) is told, and agents go without", async (token, words) => {
    await add("api", flags, transit("t-good"));
    const { result, issues } = await run(honest, {}, transit(token));
    expect(issues).toContainEqual(expect.stringMatching(`agents go without the request's credentials: .*${words}`));
    expect(tries[0]?.env.API).toBeUndefined();
    expect(result.execution_log?.credentials_used).toEqual([]);
  });
});

describe("a vault of age", () => {
  const identity = () => join(desk.home, ".config/nutshell/identity.txt");
  beforeEach(async () => {
    await desk.run(["keygen"]);
  });

  it("opens with the key that is named, and with no other that lies about", async () => {
    await add("api", LATER);
    const { issues } = await run();
    expect(issues).toContainEqual(expect.stringContaining("agents go without the request's credentials"));
    expect(tries[0]?.env.API).toBeUndefined();
    await run(honest, { identity: [identity()] });
    expect(tries[0]?.env.API).toBe(CANARY);
  });

  it("refuses to begin with a named key that does not fit", async () => {
    await add("api", LATER);
    const other = new Desk();
    await other.run(["keygen"]);
    const wrong = join(other.home, ".config/nutshell/identity.txt");
    await expect(run(honest, { identity: [wrong] })).rejects.toMatchObject({ code: "VAULT_NO_MATCHING_KEY" });
    expect(tries).toEqual([]);
    other.remove();
  });

  it("hands nothing out once it has expired, however long the run goes on", async () => {
    await add("api", ["--expires", "2998-01-01T00:00:00Z"]);
    await add("other", LATER);
    let now = new Date();
    const context = {
      cwd: root,
      env: desk.env,
      now: () => now,
      signal: new AbortController().signal,
      ask: null,
      progress: () => {},
      stdin: () => Readable.from([]),
      stdout: () => new PassThrough(),
    };
    const manifest = readManifest(request);
    const { secrets } = await openSecrets({ request, manifest, identity: [identity()], context });
    expect([secrets.names, secrets.env]).toEqual([["api", "other"], { API: CANARY, OTHER: CANARY }]);
    now = new Date("2998-06-01T00:00:00Z");
    expect([secrets.names, secrets.env, await secrets.read("api")]).toEqual([["other"], { OTHER: CANARY }, null]);
    expect(secrets.scrub(CANARY)).not.toContain(CANARY);
  });

  it("hands out what is usable and names what is not", async () => {
    await add("api", LATER);
    await add("old", ["--expires", "2026-04-01T00:00:00Z"]);
    await add("API", LATER);
    const { issues } = await run(honest, { identity: [identity()], force: true });
    expect(tries[0]?.env).toMatchObject({ API: CANARY });
    expect(tries[0]?.env.OLD).toBeUndefined();
    expect(issues).toContainEqual(expect.stringMatching(/credential "old" is not used: .*expired/));
    expect(issues).toContainEqual('credential "API" is not used: API is set by another');
  });

  it("gives agents nothing that the manifest does not scope", async () => {
    await add("api", LATER);
    const path = join(request, "nutshell.json");
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...manifest, credentials: { ...manifest.credentials, scopes: [] } }));
    await run(honest, { identity: [identity()] });
    expect(tries[0]?.env.API).toBeUndefined();
  });

  it("fails a task whose file holds a value, and takes it out of reports and logs", async () => {
    await add("api", LATER);
    const careless: Agent = (given, emit) => {
      if (given.role !== "engineer") return honest(given, emit);
      emit({ type: "message", text: `I have ${given.env.API}` });
      put(given.cwd, { "files/hello.txt": `hello world ${given.env.API}\n` });
      return `RESULT: done with ${given.env.API}`;
    };
    const { w, result } = await run(careless, { identity: [identity()] });
    expect(result.status).toBe("failed");
    expect(w.state().tasks.get(1)?.problems).toEqual(["files/hello.txt holds a credential's value"]);
    const own = join(w.folder.agents, "engineer-1");
    expect(readFileSync(join(own, "report.md"), "utf8")).toBe("RESULT: done with [redacted:api]");
    expect(readFileSync(join(own, "log.jsonl"), "utf8")).not.toContain(CANARY);
    expect(JSON.stringify(w.journal())).not.toContain(CANARY);
    for (const name of readdirSync(w.folder.objects)) {
      expect(readFileSync(join(w.folder.objects, name), "utf8")).not.toContain(CANARY);
    }
  });

  it("fails a task whose file is named after a value", async () => {
    await add("api", LATER);
    const careless: Agent = (given, emit) => {
      const answer = honest(given, emit);
      if (given.role === "engineer") put(given.cwd, { [`files/${given.env.API}.txt`]: "" });
      return answer;
    };
    const { w } = await run(careless, { identity: [identity()] });
    expect(w.state().tasks.get(1)?.problems).toEqual(["files/[redacted:api].txt holds a credential's value"]);
  });

  it("is told to nobody: not in prompts, questions, tool names or the run's own events", async () => {
    put(request, { "context/requirements.md": `the token is ${CANARY}` });
    await add("api", LATER);
    const talkative: Agent = (given, emit) => {
      emit({ type: "question", text: `may it call curl -H ${given.env.API}? (refused)` });
      emit({ type: "tool", name: `curl ${given.env.API}`, key: "1" });
      emit({ type: "session", id: `session ${given.env.API}` });
      return honest(given, emit);
    };
    const { w, result } = await run(talkative, { identity: [identity()] });
    expect(result.status).toBe("completed");
    expect(w.events.some(({ type }) => type === "agent_question")).toBe(true);
    const prompts = tries.map(({ taskPrompt, rolePrompt }) => taskPrompt + rolePrompt).join();
    expect(prompts).toContain("the token is [redacted:api]");
    for (const text of [prompts, JSON.stringify(w.events), JSON.stringify(w.journal()), JSON.stringify(result)]) {
      expect(text).not.toContain(CANARY);
    }
  });

  it("is no use to a check when the manifest does not scope it", async () => {
    await add("api", LATER);
    const path = join(request, "nutshell.json");
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    const criteria = [{ id: "AC-1", type: "shell", command: 'test -n "$API"', credential_ref: "api" }];
    put(request, {
      "tests/criteria.json": JSON.stringify({ criteria }),
      "nutshell.json": JSON.stringify({ ...manifest, credentials: { ...manifest.credentials, scopes: [] } }),
    });
    const { result } = await run(honest, { identity: [identity()], force: true });
    expect(result.acceptance_results?.criteria).toMatchObject([{ status: "skipped" }]);
  });
});
