// A stranger's request and a stranger's delivery want their commands run.
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { packFolder } from "../../src/bundle/index.js";
import type { Prompter } from "../../src/operation.js";
import { Desk } from "../vault/run.js";

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.remove());

const CRITERIA = {
  criteria: [
    { id: "AC-1", type: "shell", command: `touch "$PWD/ran"` },
    {
      id: "AC-2",
      type: "api_test",
      endpoint: "GET /x",
      base_url: "https://api.example.com/v1",
      auto_verifiable: false,
    },
  ],
};

/** A request as somebody else made it: packed by another account, so nothing here knows of it. */
async function stranger(name = "stranger"): Promise<{ bundle: string; digest: string; folder: string }> {
  const folder = desk.folder(desk.path(name), {
    publisher: { name: "Mallory" },
    acceptance: { criteria_file: "tests/criteria.json" },
    credentials: { scopes: [{ name: "db", type: "postgres", access_level: "read" }] },
  });
  put(folder, "tests/criteria.json", JSON.stringify(CRITERIA));
  const { path, contentDigest } = await packFolder(folder, { output: desk.path(`${name}.nut`) });
  return { bundle: path, digest: contentDigest, folder };
}

function put(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function changedCopy(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  put(to, "tests/more.sh", "echo more\n");
}

/** Answers every question alike and keeps them. */
function person(answer: boolean): { ask: Prompter; questions: string[] } {
  const questions: string[] = [];
  const confirm = async (question: string) => {
    questions.push(question);
    return answer;
  };
  return { questions, ask: { confirm, text: async () => "", secret: async () => "" } };
}

const codeOf = (err: string) => JSON.parse(err.slice(err.indexOf('{"error"'))).error;

describe("a stranger's request", () => {
  it("is not run when nobody can be asked, and the refusal says what would let it", async () => {
    const { bundle, digest } = await stranger();
    const { code, err } = await desk.run(["accept", bundle, "--json"]);
    expect(code).toBe(2);
    expect(codeOf(err)).toMatchObject({
      code: "CONSENT_NEEDED",
      hint: expect.stringContaining(`NUTCRACKER_CONSENT=${digest}`),
      data: { strangers: [{ digest, network: ["https://api.example.com"], credentials: ["db (read)"] }] },
    });
  });

  it("is said to reach its origins and nothing else, unless there is no sandbox", async () => {
    const { folder } = await stranger();
    const check = { id: "AC-1", type: "api_test", script: "tests/ask.sh", base_url: "https://api.example.com/v1" };
    put(folder, "tests/criteria.json", JSON.stringify({ criteria: [check] }));
    const { path } = await packFolder(folder, { output: desk.path("asks.nut") });
    const { ask, questions } = person(false);
    await desk.run(["accept", path], { ask });
    expect(questions[0]).toContain("network: https://api.example.com\n  credentials: db (read)\n  files: a copy");
    await desk.run(["accept", path, "--no-sandbox"], { ask });
    expect(questions[1]).toMatch(
      /network: all of it.*: there is no sandbox\n[\s\S]*files: all you can read and change/,
    );
  });

  it("is said to reach a database by its credential, to fill one by a script, and any address as it is", async () => {
    const { folder } = await stranger();
    const criteria = [
      { id: "AC-1", type: "sql_check", query: "select 1" },
      { id: "AC-2", type: "sql_check", database: "postgres", setup: "tests/fill.sh", query: "select 2" },
      { id: "AC-3", type: "shell", script: "tests/x.sh", base_url: "redis://cache.example:6380/0" },
    ];
    put(folder, "tests/criteria.json", JSON.stringify({ criteria }));
    const { path } = await packFolder(folder, { output: desk.path("asks.nut") });
    const { ask, questions } = person(false);
    await desk.run(["accept", path], { ask });
    expect(questions[0]).toContain("runs: select 1; tests/fill.sh; select 2; tests/x.sh\n");
    expect(questions[0]).toContain("network: redis://cache.example:6380; where its credentials say they belong\n");
  });

  it("is said to be worked on by agents with one's own network", async () => {
    const { bundle } = await stranger();
    const { ask, questions } = person(false);
    const line = ["run", bundle, "--driver", "command", "--command", "true", "--force"];
    const { err } = await desk.run(line, { ask, program: "nexus" });
    expect(questions[0], err).toContain(
      "network: agents: all of it, this machine's own too; checks: https://api.example.com\n",
    );
  });

  it("is shown before the question: who, what it runs, network, credentials", async () => {
    const { bundle, digest } = await stranger();
    const { ask, questions } = person(false);
    expect((await desk.run(["accept", bundle], { ask })).code).toBe(2);
    expect(questions).toHaveLength(1);
    for (const part of ["Mallory", `touch "$PWD/ran"`, "https://api.example.com", "db (read)", digest]) {
      expect(questions[0]).toContain(part);
    }
  });

  it("is asked about once per digest", async () => {
    const { bundle, folder } = await stranger();
    const { ask, questions } = person(true);
    for (const _ of [1, 2]) expect((await desk.run(["accept", bundle], { ask })).code).not.toBe(2);
    expect(questions).toHaveLength(1);
    put(folder, "tests/more.sh", "echo more\n");
    const { path } = await packFolder(folder, { output: desk.path("changed.nut") });
    await desk.run(["accept", path], { ask });
    expect(questions).toHaveLength(2);
  });

  it("is not another one than was asked about when its file is swapped meanwhile", async () => {
    const { bundle, folder } = await stranger();
    changedCopy(folder, desk.path("other"));
    const { path: other } = await packFolder(desk.path("other"), { output: desk.path("other.nut") });
    const { ask } = person(true);
    const swaps = async () => {
      renameSync(other, bundle);
      return true;
    };
    const line = ["run", bundle, "--driver", "command", "--command", "true", "--force"];
    const { code, err } = await desk.run(line, { ask: { ...ask, confirm: swaps }, program: "nexus" });
    expect(err).toContain("changed while it was looked at");
    expect(code).toBe(2);
  });

  it.runIf(process.getuid?.() === 0)("runs as it was asked about when its owner changes the folder", async () => {
    const { folder } = await stranger();
    const check = (command: string) => JSON.stringify({ criteria: [{ id: "AC-1", type: "shell", command }] });
    put(folder, "tests/criteria.json", check("echo as asked"));
    chownSync(folder, 4242, 4242);
    const changes = async () => {
      put(folder, "tests/criteria.json", check("echo as changed"));
      return true;
    };
    const ask = { ...person(true).ask, confirm: changes };
    const logs = desk.path("logs");
    const { out, err } = await desk.run(["accept", folder, "--quick", "--logs", logs], { ask });
    expect(out, err).toContain("AC-1");
    expect(readFileSync(join(logs, "AC-1.log"), "utf8")).toContain("as asked");
  });

  it.each([
    ["--yes", ["--yes"], () => ({})],
    ["its digest in NUTCRACKER_CONSENT", [], (digest: string) => ({ NUTCRACKER_CONSENT: `sha256:0,${digest}` })],
  ])("runs with %s", async (_how, flags, env) => {
    const { bundle, digest } = await stranger();
    expect((await desk.run(["accept", bundle, ...flags], { env: env(digest) })).code).not.toBe(2);
  });

  it("runs when the person's own settings allow its digest, and not for another's", async () => {
    const { bundle, digest } = await stranger();
    const allow = (value: string) =>
      put(desk.home, ".config/nutshell/config.json", JSON.stringify({ consent: { allow: [value] } }));
    allow("sha256:0");
    expect((await desk.run(["accept", bundle])).code).toBe(2);
    allow(digest);
    expect((await desk.run(["accept", bundle])).code).not.toBe(2);
  });

  it("stays a stranger's after it was unpacked, and packing it again does not make it one's own", async () => {
    const { bundle } = await stranger();
    expect((await desk.run(["unpack", bundle, "-o", "work"])).code).toBe(0);
    expect((await desk.run(["accept", "work"])).err).toContain("was not made here");
    expect((await desk.run(["pack", "--dir", "work", "-o", "mine.nut", "--force"])).code).toBe(0);
    expect((await desk.run(["accept", "mine.nut"])).err).toContain("was not made here");
  });

  it.each([
    ["moved", (from: string, to: string) => renameSync(from, to)],
    ["copied", (from: string, to: string) => cpSync(from, to, { recursive: true })],
    ["copied and changed", changedCopy],
  ])("stays a stranger's when its folder is %s", async (_how, move) => {
    const { bundle } = await stranger();
    expect((await desk.run(["unpack", bundle, "-o", "work"])).code).toBe(0);
    mkdirSync(desk.path("elsewhere"));
    move(join(desk.dir, "work"), desk.path("elsewhere/mine"));
    expect((await desk.run(["accept", desk.path("elsewhere/mine")])).err).toContain("was not made here");
    await desk.run(["pack", "--dir", desk.path("elsewhere/mine"), "-o", desk.path("mine.nut"), "--force"]);
    expect((await desk.run(["accept", desk.path("mine.nut")])).err).toContain("was not made here");
  });

  it("is agreed to wherever it is moved, until another bears its name", async () => {
    const { bundle, folder } = await stranger();
    const { ask, questions } = person(true);
    expect((await desk.run(["unpack", bundle, "-o", "work"])).code).toBe(0);
    expect((await desk.run(["accept", "work"], { ask })).code).not.toBe(2);
    renameSync(join(desk.dir, "work"), desk.path("moved"));
    expect((await desk.run(["accept", desk.path("moved")])).code).not.toBe(2);
    expect(questions).toHaveLength(1);
    put(folder, "tests/more.sh", "echo more\n");
    const { path } = await packFolder(folder, { output: desk.path("namesake.nut") });
    expect((await desk.run(["unpack", path, "-o", "other"])).code).toBe(0);
    // As it was agreed to it may still run; changed, nobody knows whose it is.
    expect((await desk.run(["accept", desk.path("moved")])).code).not.toBe(2);
    put(desk.path("moved"), "tests/mine.sh", "echo mine\n");
    expect((await desk.run(["accept", desk.path("moved")])).err).toContain("was not made here");
  });

  it("is not let through by settings that others may write", async () => {
    const { bundle, digest } = await stranger();
    put(desk.home, ".config/nutshell/config.json", JSON.stringify({ consent: { allow: [digest] } }));
    chmodSync(join(desk.home, ".config/nutshell/config.json"), 0o666);
    expect((await desk.run(["accept", bundle])).code).toBe(2);
  });

  it("is not let through by a record that others may write", async () => {
    const { bundle, digest } = await stranger();
    const file = join(desk.home, ".local/state/nutshell/consent.jsonl");
    put(desk.home, ".local/state/nutshell/consent.jsonl", `${JSON.stringify({ allowed: digest })}\n`);
    chmodSync(file, 0o666);
    expect((await desk.run(["accept", bundle])).code).toBe(2);
    chmodSync(file, 0o600);
    expect((await desk.run(["accept", bundle])).code).not.toBe(2);
  });
});

describe("one's own request", () => {
  it("is not asked about, as a folder or packed here", async () => {
    put(desk.dir, "tests/criteria.json", JSON.stringify(CRITERIA));
    expect((await desk.run(["accept", "."])).code).not.toBe(2);
    expect((await desk.run(["pack", "-o", desk.path("own.nut"), "--force"])).code).toBe(0);
    expect((await desk.run(["accept", desk.path("own.nut")])).code).not.toBe(2);
    const record = readFileSync(join(desk.home, ".local/state/nutshell/consent.jsonl"), "utf8");
    expect(record).toMatch(/^\{"packed":"sha256:[0-9a-f]{64}","at":"[^"]+"\}\n$/);
  });
});

describe("a stranger's delivery", () => {
  it("is not run again for one's own request without a yes of its own", async () => {
    put(desk.dir, "tests/criteria.json", JSON.stringify(CRITERIA));
    await desk.run(["pack", "-o", desk.path("own.nut"), "--force"]);
    const delivery = desk.folder(desk.path("delivery"), {
      bundle_type: "delivery",
      request_id: "nut-00000000-0000-4000-8000-000000000001",
      status: "partial",
    });
    put(delivery, "delivery/result.json", JSON.stringify({ status: "partial", request_id: REQUEST_ID }));
    const { path } = await packFolder(delivery, { output: desk.path("delivery.nut") });
    const again = ["verify", path, "--request", desk.path("own.nut"), "--rerun"];
    expect((await desk.run(again)).err).toContain("this delivery was not made here");
    const { ask, questions } = person(true);
    expect((await desk.run(again, { ask })).code).not.toBe(2);
    expect(questions[0]).toContain("runs: the code it delivers");
    expect(existsSync(desk.path("ran"))).toBe(false);
  });
});

const REQUEST_ID = "nut-00000000-0000-4000-8000-000000000001";
