import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Market } from "../../src/market/index.js";
import { runNutshell } from "../cli/run-nutshell.js";
import { type Double, leave, type Person, person, startDouble, writeRequest } from "./double.js";

let double: Double;
let author: Person;
let worker: Person;

const start = async (options?: Parameters<typeof startDouble>[0]) => {
  double = await startDouble(options);
  author = person(double.nodes[0]!);
  worker = person(double.nodes[1]!);
};
beforeEach(() => start());
afterEach(async () => {
  await double.stop();
  leave(author, worker);
});

const fault = (kind: string, method: string, path: string, more: object = {}) =>
  double.control("fault", { kind, method, path, ...more });
const sent = async (method: string) => (await double.log()).filter((row) => row.method === method);
const published = async () => {
  const tasks = (await author.json("tasks", "--status", "open")).tasks as { id: string }[];
  return tasks.map(({ id }) => id);
};

describe("publish refuses before anything is sent", () => {
  it.each([
    ["a reward below 100", ["--reward", "99"], {}, "0 or a whole number"],
    ["a fractional reward", ["--reward", "150.5"], {}, "0 or a whole number"],
    ["too little money for reward and fee", ["--reward", "4100"], {}, "this needs 4305 shells"],
    ["another currency", [], { extensions: { clawnet: { reward: { amount: 100, currency: "usd" } } } }, "shells only"],
    ["a passed deadline", [], { expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
    ["an incomplete request", [], { context: { requirements: "context/absent.md" } }, "absent.md"],
    ["no confirmation", ["--no-yes"], {}, "nobody can answer"],
  ])("%s", async (_name, flags, extra, words) => {
    const dir = writeRequest(author, "task", extra);
    const before = readFileSync(join(dir, "nutshell.json"), "utf8");
    const yes = flags[0] === "--no-yes" ? [] : [...flags, "--yes"];
    const { code, err } = await author.run("publish", "--dir", dir, ...yes);
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(words);
    expect(await sent("POST")).toEqual([]);
    expect(readFileSync(join(dir, "nutshell.json"), "utf8")).toBe(before);
    expect(readdirSync(author.home).filter((name) => name.endsWith(".nut"))).toEqual([]);
  });

  it("a secret in a file", async () => {
    const dir = writeRequest(author);
    const key = [
      "-----BEGIN RSA PRIVATE KEY-----",
      "MIIEpAIBAAKCAQEA".repeat(20),
      "-----END RSA PRIVATE KEY-----",
    ].join("\n");
    writeFileSync(join(dir, "context/notes.md"), key);
    const { code, err } = await author.run("publish", "--dir", dir, "--yes");
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("context/notes.md") });
    expect(err).not.toContain("MIIEpAIBAAKCAQEAMIIE");
    expect(await sent("POST")).toEqual([]);
  });
});

describe("publish survives", () => {
  it.each([["lose-answer"], ["error-after-commit"]])("%s of the creation, without paying twice", async (kind) => {
    await fault(kind, "POST", "/api/tasks$");
    const dir = writeRequest(author);
    expect(await author.json("publish", "--dir", dir, "--yes")).toMatchObject({ reward: 500 });
    expect(await author.json("publish", "--dir", dir, "--yes")).toMatchObject({ repeated: true });
    expect(await published()).toHaveLength(1);
    expect(await double.account(0)).toMatchObject({ balance: 4200 - 525, frozen: 500 });
  });

  it("a queued publication", async () => {
    await double.control("queue", { node: 0, queue: true });
    expect(await author.json("publish", "--dir", writeRequest(author), "--yes")).toMatchObject({ reward: 500 });
    expect(await published()).toHaveLength(1);
  });

  it("a failed upload, reported with the way on, then finished by repeating", async () => {
    await fault("status", "POST", "/bundle$", { status: 500, body: "disk I/O error" });
    const dir = writeRequest(author);
    const failed = await author.run("publish", "--dir", dir, "--yes");
    expect(failed.code).toBe(2);
    expect(failed.err).toMatch(/is published, but its bundle did not arrive.*\n.*nutshell publish.*nutshell cancel/);
    expect(await author.json("publish", "--dir", dir, "--yes")).toMatchObject({ repeated: true });
    expect(await published()).toHaveLength(1);
  });

  it("a daemon that found too little money only after burning the fee", async () => {
    await fault("status", "GET", "/credits/balance", { status: 200, body: '{"peer_id":"x","balance":99999}' });
    const { code, err } = await author.run("publish", "--dir", writeRequest(author), "--reward", "4190", "--yes");
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("burned the fee of 209 shells") });
  });

  it("a changed request under the same id, by refusing", async () => {
    const dir = writeRequest(author);
    await author.json("publish", "--dir", dir, "--yes");
    writeFileSync(join(dir, "context/requirements.md"), "something else\n");
    const { code, err } = await author.run("publish", "--dir", dir, "--yes");
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("already published") });
    expect(await published()).toHaveLength(1);
  });

  it("the time before the daemon has an account", async () => {
    await double.control("account", { node: 0, account: null });
    const { code, err } = await author.run("publish", "--dir", writeRequest(author), "--yes");
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("the balance is 0") });
  });
});

describe("claim", () => {
  const publish = async () => (await author.json("publish", "--dir", writeRequest(author), "--yes")).task_id as string;
  const claim = (id: string) => worker.run("claim", id, "-o", join(worker.home, "w"));

  it.each([
    ["wrong-bytes", "not the one the author published"],
    ["truncate", "did not answer"],
    ["endless", "larger than"],
    ["reset", "did not answer"],
  ])("refuses a bundle with %s and leaves nothing", async (kind, words) => {
    const id = await publish();
    await fault(kind, "GET", "/bundle$", { node: 1 });
    const { code, err } = await claim(id);
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining(words) });
    expect(readdirSync(worker.home)).toEqual([".openclaw"]);
  });

  it("says when the bundle has not arrived yet", async () => {
    const id = await publish();
    await double.control("cut", { node: 0, cut: true });
    expect((await claim(id)).err).toContain("have it yet");
  });

  it("makes a folder from a task without a bundle", async () => {
    const answer = await fetch(`${double.nodes[0]!.url}/api/tasks`, {
      method: "POST",
      body: JSON.stringify({ title: "../../evil", description: "text", reward: 0, tags: null }),
    });
    const { task } = (await answer.json()) as { task: { id: string } };
    const { dir } = await worker.json("claim", task.id);
    expect(dir).toBe(join(worker.home, "evil"));
    expect(existsSync(join(dir as string, "context/requirements.md"))).toBe(true);
  });

  it("refuses a sealed bundle without its key", async () => {
    const target = double.nodes[1]!.peerId;
    const { task_id } = await author.json("publish", "--dir", writeRequest(author), "--peer", target, "--yes");
    writeFileSync(join(worker.home, ".openclaw/clawnet/identity.key"), Buffer.alloc(32, 7), { mode: 0o600 });
    const { code, err } = await claim(task_id as string);
    expect(code).toBe(2);
    expect(err).toContain("sealed");
    expect(readdirSync(worker.home)).toEqual([".openclaw"]);
  });

  it("never overwrites a folder", async () => {
    const id = await publish();
    await claim(id);
    expect(await claim(id)).toMatchObject({ code: 2, err: expect.stringContaining("already exists") });
  });
});

describe("deliver survives", () => {
  /** A task assigned to the worker (or a simple one), claimed and worked on. */
  const assigned = async (...flags: string[]) => {
    const { task_id, mode } = await author.json("publish", "--dir", writeRequest(author), "--yes", ...flags);
    const id = task_id as string;
    const workspace = join(worker.home, "w");
    await worker.json("claim", id, "-o", workspace);
    mkdirSync(join(workspace, "delivery"));
    const checklist = [{ item: "the file says hello", status: "unknown" }];
    mkdirSync(join(workspace, "delivery/artifacts"));
    writeFileSync(join(workspace, "delivery/artifacts/hello.txt"), "hello\n");
    const artifacts = { files_created: [{ path: "hello.txt" }] };
    const result = { status: "partial", completion_percentage: 80, artifacts, acceptance_results: { checklist } };
    writeFileSync(join(workspace, "delivery/result.json"), JSON.stringify(result));
    if (mode === "auction") {
      await worker.json("bid", id);
      await author.json("assign", id, double.nodes[1]!.peerId);
    }
    return { id, workspace };
  };

  it.each([
    ["lose-answer", "/deliver$", []],
    ["error-after-commit", "/deliver$", []],
    ["lose-answer", "/claim$", ["--simple"]],
  ])("%s of POST %s, without delivering twice", async (kind, path, flags) => {
    const { workspace } = await assigned(...flags);
    await fault(kind, "POST", path, { node: 1 });
    expect(await worker.json("deliver", "--dir", workspace, "--yes")).toMatchObject({
      delivery_id: expect.any(String),
    });
    expect(await worker.json("deliver", "--dir", workspace, "--yes")).toMatchObject({ route: "done" });
    expect((await sent("POST")).filter((row) => new RegExp(path).test(row.path))).toHaveLength(1);
  });

  it("a refusal, with the folder still a request and the retry the same delivery", async () => {
    const { workspace } = await assigned();
    const before = readFileSync(join(workspace, "nutshell.json"), "utf8");
    await fault("status", "POST", "/deliver$", { node: 1, status: 503, body: "busy" });
    expect((await worker.run("deliver", "--dir", workspace, "--yes")).code).toBe(2);
    expect(readFileSync(join(workspace, "nutshell.json"), "utf8")).toBe(before);
    expect(await worker.json("deliver", "--dir", workspace, "--yes")).toMatchObject({ route: "deliver" });
    expect(JSON.parse(readFileSync(join(workspace, "nutshell.json"), "utf8")).parent_id).toBe("nut-story-task");
  });

  it("work without a result, and the hint's command makes one that is delivered", async () => {
    const { workspace } = await assigned();
    rmSync(join(workspace, "delivery"), { recursive: true });
    const posts = (await sent("POST")).length;
    const { code, err } = await worker.run("deliver", "--dir", workspace, "--yes");
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("has no delivery/result.json") });
    expect((await sent("POST")).length).toBe(posts);
    const [, named] = /hint: nutshell (finish .+) {3}then/.exec(err)!;
    expect(named).toBe(`finish ${workspace} --request ${workspace}.request.nut -o done.nut`);
    mkdirSync(join(workspace, "files"), { recursive: true });
    writeFileSync(join(workspace, "files/hello.txt"), "hello\n");
    const words = [...named!.split(" "), "-m", "said", "--by", "Ada", "--point", "1: read it", "--no-accept"];
    const made = await runNutshell(words, { cwd: worker.home, env: { HOME: worker.home } });
    expect(made, made.err).toMatchObject({ out: expect.stringContaining("delivery: ") });
    expect(await worker.json("deliver", "done.nut", "--yes")).toMatchObject({ route: "deliver" });
  });

  it("nobody's yes: nothing is sent or paid, and the line it names does it", async () => {
    const { id, workspace } = await assigned();
    const posts = (await sent("POST")).length;
    const paste = async (who: Person, err: string, expected: string) => {
      const [, line] = /hint: nutshell (.+)\n$/.exec(err)!;
      expect(line).toBe(expected);
      return runNutshell(line!.split(" "), { cwd: who.home, env: { HOME: who.home } });
    };
    const delivering = await worker.run("deliver", "--dir", workspace);
    expect(delivering).toMatchObject({ code: 2, err: expect.stringContaining("nobody can answer here") });
    expect((await sent("POST")).length).toBe(posts);
    const [theirs, ours] = [double.nodes[1]!.url, double.nodes[0]!.url];
    const delivered = await paste(worker, delivering.err, `deliver --dir ${workspace} --clawnet ${theirs} --yes`);
    expect(delivered, delivered.err).toMatchObject({ code: 0, out: expect.stringContaining(`delivered for ${id}`) });
    for (const verb of ["reject", "approve"] as const) {
      const asked = await author.run(verb, id);
      expect(asked).toMatchObject({ code: 2, err: expect.stringContaining("nobody can answer here") });
      expect(await author.json("tasks", "show", id)).toMatchObject({ task: { status: "submitted" } });
      if (verb === "reject") continue;
      const paid = await paste(author, asked.err, `approve ${id} --clawnet ${ours} --yes`);
      expect(paid, paid.err).toMatchObject({ code: 0, out: expect.stringContaining("is approved") });
    }
    expect(await worker.run("deliver", "--dir", "it's nowhere")).toMatchObject({
      code: 2,
      err: expect.stringContaining("hint: "),
    });
  });

  it("losing the race for a simple task, unpaid and told so", async () => {
    const { id, workspace } = await assigned("--simple");
    await double.control("task", { node: 1, id, fields: { status: "submitted", assigned_to: "12D3KooWother" } });
    expect((await worker.run("deliver", "--dir", workspace, "--yes")).err).toContain(
      "somebody else has already delivered",
    );
    expect(await double.account(1)).toMatchObject({ balance: 4200 });
  });

  it("a self-evaluation the daemon would refuse, before anything is sent", async () => {
    const { workspace } = await assigned("--simple");
    const posts = (await sent("POST")).length;
    const { code, err } = await worker.run("deliver", "--dir", workspace, "--score", "0.5", "--yes");
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("from 0.6 up") });
    expect((await sent("POST")).length).toBe(posts);
  });
});

describe("a silent daemon", () => {
  it("is given up on, and the caller is told to look before repeating", async () => {
    const base = new URL(double.nodes[0]!.url);
    const market = await Market.connect(base, { timeoutMs: 300 });
    await fault("hang", "POST", "/approve$");
    await expect(market.settle("some-id", "approve")).rejects.toMatchObject({ code: "MARKET_NO_ANSWER" });
  });
});

describe("who answers on the port", () => {
  it("nobody: one sentence with what to do", async () => {
    const alone = person({ ...double.nodes[0]!, url: "127.0.0.1:1" });
    const { code, err } = await alone.run("balance");
    leave(alone);
    expect({ code, lines: err.trim().split("\n").length }).toEqual({ code: 2, lines: 2 });
    expect(err).toContain("no ClawNet daemon answers");
  });

  it.each([
    ["stranger", {}],
    ["redirect", { location: "http://127.0.0.1:1/" }],
    ["status", { status: 500 }],
  ])("%s: one sentence", async (kind, more) => {
    await fault(kind, "GET", "/api/status", more);
    const { code, err } = await author.run("balance");
    expect({ code, lines: err.trim().split("\n").length }).toEqual({ code: 2, lines: 2 });
    expect(err).toContain("not a ClawNet daemon");
  });

  it("the successor is recognised and refused", async () => {
    await double.stop();
    leave(author, worker);
    await start({ profile: "anet-1.x" });
    expect((await author.run("balance")).err).toContain("AgentNetwork (anet)");
  });

  it("an older daemon that answers flat is understood", async () => {
    await double.stop();
    leave(author, worker);
    await start({ profile: "legacy-0.9.9" });
    expect(await author.json("publish", "--dir", writeRequest(author), "--yes")).toMatchObject({ reward: 500 });
  });

  it("ids that are paths are refused before anything is sent", async () => {
    for (const id of ["../status", "a/b", "%2e%2e"]) {
      expect((await author.run("tasks", "show", id)).err).toContain("is not a task id");
    }
    expect((await double.log()).every(({ path }) => path === "/api/status")).toBe(true);
  });
});

describe("time", () => {
  it("settles an unclaimed task after two and a half hours, and the client says so", async () => {
    const { task_id: id } = await author.json("publish", "--dir", writeRequest(author), "--yes");
    await double.control("advance", { ms: 151 * 60_000 });
    expect(await double.account(0)).toMatchObject({ frozen: 0, balance: 4200 - 25 });
    expect((await author.run("cancel", id as string, "--yes")).err).toContain("the task is settled");
  });
});
