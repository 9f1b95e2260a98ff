// Single steps of a run: what is kept, what is told, what is left alone.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentRequest } from "../../src/run/index.js";
import { openProject, planFile, startPlan, tasksFile } from "../../src/state/index.js";
import { type Agent, helloRequest, put, scratch, sweep, world } from "./scripted.js";

let root: string;
beforeEach(() => {
  root = scratch();
});
afterEach(sweep);

const approve = "VERDICT: pass\n- [passed] 1: files/hello.txt says so";
const honest: Agent = ({ role, cwd }) => {
  if (role === "engineer") put(cwd, { "files/hello.txt": "hello world\n" });
  return role === "reviewer" ? approve : "RESULT: done";
};
const openFolder = () => openProject(join(root, "project"), {});

describe("a run", () => {
  it("in which nothing goes wrong has nothing to tell", async () => {
    helloRequest(root);
    const { result } = (await (await world({ root, agent: honest })).go()).delivery!;
    const issues = result.execution_log?.issues_encountered?.filter(
      (issue) => issue !== "the checks ran without a sandbox",
    );
    expect({ status: result.status, issues }).toEqual({ status: "completed", issues: [] });
  });

  it("leaves a person's own plan in the project alone", async () => {
    helloRequest(root);
    const w = await world({ root, agent: honest });
    await startPlan(openFolder(), { topic: "mine", issues: ["one"], research_summary: "none" }, new Date());
    const before = openFolder().store.read(planFile);
    await w.go();
    expect(openFolder().store.read(planFile)).toEqual(before);
    expect(openFolder().store.read(tasksFile)).toBeNull();
  });

  it.each(["template", "delivery"])("begins with a request and not with a %s", async (type) => {
    helloRequest(root, { bundle_type: type });
    const w = await world({ root, agent: honest, options: { force: true } });
    await expect(w.go()).rejects.toMatchObject({ code: "RUN_NOT_A_REQUEST" });
    expect(w.started).toEqual([]);
  });

  it("writes an error down before it ends with it, and goes on from there", async () => {
    helloRequest(root);
    const broken: Agent = () => {
      throw new Error("the program cannot be started");
    };
    const w = await world({ root, agent: broken });
    await expect(w.go()).rejects.toThrow("the program cannot be started");
    expect(w.state().paused).toMatchObject({ reason: "error", message: "the program cannot be started" });
    expect((await w.go(null, { agent: honest })).delivery?.result.status).toBe("completed");
  });
});

describe("an agent", () => {
  it("judges the checklist only when that is its task", async () => {
    helloRequest(root);
    const proud: Agent = (request, emit) => {
      honest(request, emit);
      return request.role === "reviewer" ? "RESULT: done" : "- [passed] 1: I made it greet";
    };
    const w = await world({ root, agent: proud });
    const { result } = (await w.go()).delivery!;
    expect(w.state().agents.get("engineer-1")?.end?.judgements).toEqual([]);
    expect(w.state().agents.get("tester-2")?.end?.judgements).toEqual([]);
    expect(result).toMatchObject({
      status: "partial",
      acceptance_results: { checklist: [{ status: "unknown", note: "nobody judged it" }] },
    });
  });

  it("that breaks a rule leaves nothing to be kept", async () => {
    helloRequest(root);
    const w = await world({
      root,
      options: { yes: true },
      agent: ({ cwd }) => {
        put(cwd, { "files/hello.txt": "hello world\n", "README.md": "not mine" });
        return "RESULT: done";
      },
    });
    await w.go();
    const ends = [...w.state().agents.values()].map(({ end }) => end);
    expect(ends.every((end) => end?.changes.length === 0 && end.problems.length > 0)).toBe(true);
  });

  it("that is stopped with the run leaves half-done work to nobody", async () => {
    helloRequest(root);
    const stop = new AbortController();
    const w = await world({
      root,
      signal: stop.signal,
      agent: ({ cwd }) => {
        put(cwd, { "files/hello.txt": "hello wor" });
        stop.abort("SIGINT");
        return new Promise(() => {});
      },
    });
    await w.go().catch(() => {});
    expect(w.state().agents.get("engineer-1")?.end).toMatchObject({ outcome: "stopped", changes: [], problems: [] });
  });

  it("that only diagnoses may not repair", async () => {
    helloRequest(root);
    const w = await world({
      root,
      agent: (request, emit) => {
        if (request.role === "architect") put(request.cwd, { "files/hello.txt": "hello world\n" });
        const isFirst = request.role === "engineer" && !request.taskPrompt.includes("DIAGNOSIS:");
        return isFirst ? "RESULT: done" : honest(request, emit);
      },
    });
    await w.go();
    const told = w.journal().flatMap((record) => (record.type === "diagnosed" ? [record.text] : []));
    expect(told).toEqual([
      "no diagnosis: the architect may not change files, but changed files/hello.txt; the change was taken back",
    ]);
  });

  it("that plans may change no file", async () => {
    helloRequest(root, { harness: {} });
    const leads: AgentRequest[] = [];
    const w = await world({
      root,
      runner: { canPlan: true, hasTools: true },
      agent: (request, emit) => {
        if (request.role === "lead") leads.push(request);
        return honest(request, emit);
      },
    });
    const { result } = (await w.go()).delivery!;
    expect(leads).toHaveLength(1);
    expect(leads[0]).toMatchObject({ mayEdit: false, mayRunShell: true, task: 0, capabilities: ["no_file_edit"] });
    expect([...leads[0]!.blocked]).toContain("file_creation");
    expect(leads[0]?.env).not.toHaveProperty("NEXUS_ROLE");
    // It added no task, so the default plan is followed, and that is on record.
    expect(result.execution_log?.issues_encountered).toContain("the Lead's plan is not used: it added no task");
  });
});
