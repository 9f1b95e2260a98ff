// What "completed" means and what a run holds to, through the whole engine with scripted agents.
import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cleanTreeOf, planChecks, rebuildTree, treeDigest } from "../../src/acceptance/index.js";
import { contentDigest, readManifest, unpackBundle } from "../../src/bundle/index.js";
import { deliveredPaths, readDelivery } from "../../src/request/apply/delivered.js";
import type { AgentRequest } from "../../src/run/index.js";
import { type Agent, dieAt, helloRequest, put, scratch, sweep, world } from "./scripted.js";

let root: string;
beforeEach(() => {
  root = scratch();
});
afterEach(sweep);

const greet = ({ cwd }: AgentRequest) => put(cwd, { "files/hello.txt": "hello world\n" });
const approve = "VERDICT: pass\n- [passed] 1: files/hello.txt says so";
const honest: Agent = (request) => {
  if (request.role === "engineer") greet(request);
  return request.role === "reviewer" ? approve : "RESULT: done";
};
const planOf = (...tasks: object[]) => {
  const path = join(root, "plan.json");
  writeFileSync(path, JSON.stringify({ tasks }));
  return path;
};

describe("completed", () => {
  it("names by digest the very tree that anyone rebuilds from the delivery", async () => {
    const request = helloRequest(root);
    const agent: Agent = (given, emit) => {
      if (given.role === "engineer") {
        put(given.cwd, { "files/more/new.txt": "new\n", "tests/hello.sh": "exit 0\n" });
        rmSync(join(given.cwd, "files/old.txt"));
      }
      return honest(given, emit);
    };
    put(request, { "files/old.txt": "old\n" });
    const manifest = readManifest(request);
    writeFileSync(join(request, "nutshell.json"), JSON.stringify({ ...manifest, harness: {} }));
    const w = await world({ root, agent, options: { plan: "default" } });
    const { result, path, hash } = (await w.go()).delivery!;
    expect(result.status).toBe("completed");
    const [delivery, rebuilt] = [join(root, "unpacked"), join(root, "rebuilt")];
    await unpackBundle(path, delivery, {});
    rebuildTree(request, delivery, deliveredPaths(readDelivery(delivery, readManifest(delivery))), rebuilt);
    const plan = planChecks(request, readManifest(request));
    const clean = cleanTreeOf({ base: request, request, plan, result: rebuilt });
    expect(result.digests).toEqual({ ...clean.digests, request: contentDigest(request) });
    expect(existsSync(join(delivery, "delivery/artifacts/tests"))).toBe(false);
    expect(w.state().delivered).toMatchObject({ hash, path, status: "completed" });
  });

  it("is not for a tree nobody changed, whatever passes on it", async () => {
    helloRequest(root, {}, { "files/hello.txt": "hello world\n" });
    const w = await world({ root, agent: (request) => (request.role === "reviewer" ? approve : "RESULT: done") });
    const { result } = (await w.go()).delivery!;
    expect(result).toMatchObject({ status: "partial", completion_percentage: 0 });
    expect(result.acceptance_results?.criteria).toMatchObject([{ status: "passed", proves_nothing: true }]);
  });

  it.each([
    ["fails a point", "VERDICT: pass\n- [failed] 1: it greets nobody", "failed"],
    ["says no", "VERDICT: fail\n- [passed] 1: files/hello.txt says so", "passed"],
    ["judges nothing", "RESULT: done", "unknown"],
    ["gives no evidence", "- [passed] 1:", "unknown"],
  ])("is not for work whose reviewer %s", async (_, report, judged) => {
    helloRequest(root);
    const agent: Agent = (request, emit) => (request.role === "reviewer" ? report : honest(request, emit));
    const { result } = (await (await world({ root, agent })).go()).delivery!;
    expect(result.status).toBe("partial");
    expect(result.acceptance_results).toMatchObject({ tests_passed: 1, checklist: [{ status: judged }] });
  });

  it("needs a review of the tree as a repair left it", async () => {
    helloRequest(root);
    const plan = planOf(
      { title: "one", files: ["files/a.txt"] },
      { title: "two", files: ["files/b.txt"] },
      { title: "look", owner: "reviewer", deps: [1, 2] },
    );
    let reviews = 0;
    const agent: Agent = (request, emit) => {
      if (request.role === "reviewer") {
        reviews += 1;
        return reviews === 1 ? "VERDICT: fail\n- [failed] 1: nothing greets" : approve;
      }
      if (request.taskPrompt.startsWith("TASK: Repair")) return honest(request, emit);
      if (request.role === "engineer") put(request.cwd, { [request.task === 1 ? "files/a.txt" : "files/b.txt"]: "x" });
      return "RESULT: done";
    };
    const w = await world({ root, agent, options: { plan } });
    const { result } = (await w.go()).delivery!;
    expect(w.started.filter((name) => name.startsWith("reviewer"))).toHaveLength(2);
    expect(result.status).toBe("completed");
    expect(w.state().accepted?.attempt).toBeGreaterThan(1);
  });
});

describe("behind the harness's back", () => {
  it("a change of the main tree is put back and told", async () => {
    helloRequest(root);
    const w = await world({
      root,
      agent: (request, emit) => {
        if (request.role === "reviewer") put(w.folder.main, { "files/hello.txt": "stolen\n", "files/x.txt": "x" });
        return honest(request, emit);
      },
    });
    const { result } = (await w.go()).delivery!;
    expect(result.status).toBe("completed");
    expect(readFileSync(join(w.folder.main, "files/hello.txt"), "utf8")).toBe("hello world\n");
    expect(existsSync(join(w.folder.main, "files/x.txt"))).toBe(false);
    expect(result.execution_log?.issues_encountered).toContain(
      "changed behind the harness's back and put back: files/hello.txt, files/x.txt",
    );
  });

  it("a change between the acceptance and the delivery is not delivered", async () => {
    helloRequest(root);
    const w = await world({
      root,
      agent: honest,
      progress: ({ type }) => {
        if (type === "acceptance_finished") put(w.folder.main, { "files/hello.txt": "stolen\n" });
      },
    });
    const { path } = (await w.go()).delivery!;
    await unpackBundle(path, join(root, "unpacked"), {});
    expect(readFileSync(join(root, "unpacked/delivery/artifacts/files/hello.txt"), "utf8")).toBe("hello world\n");
  });

  it("nor is work on a large request whose test was changed meanwhile, times and size put back", async () => {
    const many = Object.fromEntries(Array.from({ length: 2_100 }, (_, i) => [`files/many/${i}`, `${i}\n`]));
    helloRequest(root, {}, many);
    const w = await world({
      root,
      agent: (request, more) => {
        const test = join(w.folder.request, "tests/hello.sh");
        const [before, { atime, mtime }] = [readFileSync(test, "utf8"), statSync(test)];
        writeFileSync(test, before.replace("grep -q", "true   "));
        utimesSync(test, atime, mtime);
        return honest(request, more);
      },
    });
    await expect(w.go()).rejects.toMatchObject({ code: "RUN_TREE_MOVED" });
  });

  it("a run whose request was changed while it waited does not go on", async () => {
    helloRequest(root);
    const w = await world({ root, agent: () => new Promise(() => {}), budget: ["agent=50ms"] });
    expect((await w.go()).status).toBe("paused");
    put(w.folder.request, { "files/hello.txt": "hello world\n" });
    await expect(w.go(null, { agent: honest, budget: ["agent=1h"] })).rejects.toMatchObject({ code: "RUN_TREE_MOVED" });
    expect(w.started).toEqual(["engineer-1"]);
  });
});

describe("agents at work", () => {
  it("start from everything that was finished before them, and from nothing else", async () => {
    helloRequest(root);
    const plan = planOf(
      { title: "one", files: ["files/a.txt"] },
      { title: "two", files: ["files/b.txt"] },
      { title: "three", files: ["files/hello.txt"], deps: [1, 2] },
    );
    const saw: Record<number, string[]> = {};
    let [working, most] = [0, 0];
    const agent: Agent = async (request) => {
      if (request.role === "reviewer") return approve;
      working += 1;
      most = Math.max(most, working);
      saw[request.task] = ["files/a.txt", "files/b.txt"].filter((path) => existsSync(join(request.cwd, path)));
      await new Promise((resolve) => setTimeout(resolve, 30));
      if (request.task === 3) greet(request);
      else put(request.cwd, { [request.task === 1 ? "files/a.txt" : "files/b.txt"]: "x" });
      working -= 1;
      return "RESULT: done";
    };
    const w = await world({ root, agent, options: { plan, jobs: 2 } });
    expect((await w.go()).delivery?.result.status).toBe("completed");
    expect(saw).toEqual({ 1: [], 2: [], 3: ["files/a.txt", "files/b.txt"] });
    expect(most).toBe(2);
  });

  it("are as many as are allowed: one in a request that says incremental", async () => {
    helloRequest(root, { harness: { execution_strategy: "incremental" } });
    const plan = planOf(...["a", "b", "c"].map((name) => ({ title: name, files: [`files/${name}.txt`] })));
    let [working, most] = [0, 0];
    const agent: Agent = async (request) => {
      working += 1;
      most = Math.max(most, working);
      await new Promise((resolve) => setTimeout(resolve, 10));
      working -= 1;
      return request.role === "reviewer" ? approve : "RESULT: done";
    };
    await (await world({ root, agent, options: { plan, yes: true } })).go();
    expect(most).toBe(1);
    await (
      await world({ root, agent, options: { id: "r2", plan, yes: true, jobs: 3, output: join(root, "2.nut") } })
    ).go();
    expect(most).toBe(3);
  });

  it("leave nothing half done to those who come after them", async () => {
    helloRequest(root);
    const controller = new AbortController();
    let left = true;
    const agent: Agent = (request, emit) => {
      if (request.agent !== "engineer-1") {
        if (request.agent === "engineer-2") left = existsSync(join(request.cwd, "files/half.txt"));
        return honest(request, emit);
      }
      put(request.cwd, { "files/half.txt": "half" });
      controller.abort("SIGINT");
      return new Promise(() => {});
    };
    const w = await world({ root, agent, signal: controller.signal });
    await expect(w.go()).rejects.toMatchObject({ code: "INTERRUPTED" });
    const done = await w.go(null, { signal: new AbortController().signal });
    expect({ left, status: done.delivery?.result.status }).toEqual({ left: false, status: "completed" });
    expect(w.state().agents.get("engineer-1")?.end).toMatchObject({ outcome: "stopped", changes: [], problems: [] });
    expect(existsSync(join(w.folder.main, "files/half.txt"))).toBe(false);
  });

  it("are checked with the criteria their task names, and no others", async () => {
    const criteria = ["AC-1", "AC-2"].map((id) => ({ id, type: "shell", command: `test -e files/${id}` }));
    helloRequest(root, {}, { "tests/criteria.json": JSON.stringify({ criteria }) });
    const plan = planOf(
      { title: "one", files: ["files/AC-1"], criteria: ["AC-1"] },
      { title: "two", files: ["files/AC-2"], criteria: ["AC-2"], deps: [1] },
    );
    const agent: Agent = (request) => {
      if (request.role === "engineer") put(request.cwd, { [`files/AC-${request.task}`]: "" });
      return request.role === "reviewer" ? approve : "RESULT: done";
    };
    const w = await world({ root, agent, options: { plan } });
    expect((await w.go()).delivery?.result.status).toBe("completed");
    expect(w.started).toEqual(["engineer-1", "engineer-2", "reviewer-3"]);
  });
});

describe("a delivery", () => {
  it("is made once, however often a run that was delivered is taken up", async () => {
    helloRequest(root);
    const w = await world({ root, agent: honest });
    const first = (await w.go()).delivery!;
    const again = await w.go();
    expect(again).toMatchObject({ status: "delivered", recorded: true, delivery: first });
    expect(w.journal().filter(({ type }) => type === "delivered")).toHaveLength(1);
    expect(w.journal().at(-1)?.type).toBe("closed");
  });

  it("that was written just before a kill is the one that counts", async () => {
    helloRequest(root);
    const w = await world({ root, agent: honest });
    await w.go();
    const at = w.journal().findIndex(({ type }) => type === "delivered") + 1;
    for (const left of ["project", "delivery.nut"]) rmSync(join(root, left), { recursive: true, force: true });
    const killed = await world({ root, agent: honest });
    expect(await dieAt(at, "after", () => killed.go())).toBe(true);
    const digest = treeDigest(killed.folder.delivery);
    const { delivery } = await killed.go();
    expect(delivery?.result.status).toBe("completed");
    expect(killed.started).toHaveLength(3);
    expect(treeDigest(killed.folder.delivery)).toBe(digest);
  });

  it("tells of what looks like a secret in it", async () => {
    helloRequest(root);
    const agent: Agent = (request, emit) => {
      const answer = honest(request, emit);
      if (request.role === "engineer") {
        put(request.cwd, {
          "files/key.pem": "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n",
        });
      }
      return answer;
    };
    const { result } = (await (await world({ root, agent })).go()).delivery!;
    expect(result.execution_log?.issues_encountered?.join()).toMatch(/files\/key\.pem.* looks like a secret/);
  });

  it("of tasks that were given up is not repaired behind the person's back", async () => {
    helloRequest(root);
    const w = await world({ root, agent: () => "RESULT: done, trust me" });
    expect((await w.go()).paused?.reason).toBe("question");
    const { result } = (await w.go({ answer: "deliver" })).delivery!;
    expect(result.status).toBe("failed");
    expect([...w.state().tasks.values()].map(({ status }) => status)).toEqual(["skipped", "pending", "pending"]);
    expect([...w.state().tasks.values()].some(({ task }) => task.kind === "repair")).toBe(false);
  });
});
