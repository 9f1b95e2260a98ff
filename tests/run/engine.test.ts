// Long because: one engine, and the scripted agents its cases share.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openBundle, packFolder } from "../../src/bundle/index.js";
import type { Prompter } from "../../src/operation.js";
import type { AgentRequest } from "../../src/run/index.js";
import { agentTracker, editTracker, historyFile, listTasks, openProject } from "../../src/state/index.js";
import { dieEverywhere } from "./dying.js";
import { type Agent, helloRequest, MANIFEST, put, scratch, sweep, world } from "./scripted.js";

let root: string;
beforeEach(() => {
  root = scratch();
});
afterEach(sweep);

const write = (request: AgentRequest, path: string, text: string) => put(request.cwd, { [path]: text });
const honest: Agent = (request) => {
  if (request.role === "engineer") write(request, "files/hello.txt", "hello world\n");
  if (request.role === "reviewer") return "VERDICT: pass\n- [passed] 1: files/hello.txt says so";
  return "RESULT: done\nSUMMARY: ok";
};

const nobody = () => Promise.reject(new Error("nobody was to be asked this"));

describe("a run", () => {
  it("turns a request into a delivery whose claims the harness proved", async () => {
    helloRequest(root);
    const w = await world({ root, agent: honest });
    const outcome = await w.go();
    expect(outcome.status).toBe("delivered");
    const { result, path } = outcome.delivery!;
    expect(result).toMatchObject({
      status: "completed",
      completion_percentage: 100,
      request_id: MANIFEST.id,
      parent_id: MANIFEST.id,
      deliverer: { name: "scripted", version: "1.0.0", sessions_used: 3 },
      artifacts: { files_modified: [{ path: "delivery/artifacts/files/hello.txt", diff_lines: 2 }] },
      acceptance_results: {
        tests_passed: 1,
        checklist: [{ item: "it greets", status: "passed", evidence: "judged", note: "files/hello.txt says so" }],
      },
      execution_log: { strategy_used: "one-shot", full_log: "delivery/logs/execution.log" },
    });
    const bundle = await openBundle(path);
    expect(bundle.manifest).toMatchObject({ bundle_type: "delivery", status: "completed", request_id: MANIFEST.id });
    expect(await bundle.readText("delivery/artifacts/files/hello.txt")).toBe("hello world\n");
    expect(await bundle.readText("delivery/logs/execution.log")).toContain("task_completed");
    await bundle.close();
    expect(w.started).toEqual(["engineer-1", "tester-2", "reviewer-3"]);
    const history = openProject(join(root, "project"), {}).store.read(historyFile);
    expect(history?.cycles.map(({ tasks }) => tasks.map(({ status }) => status))).toEqual([
      ["completed", "completed", "completed"],
    ]);
    // The request itself is only read.
    expect(readFileSync(join(root, "request/files/hello.txt"), "utf8")).toBe("nothing\n");
  });

  it("hands each role its prompt, its limits and its fence", async () => {
    helloRequest(root);
    const seen: AgentRequest[] = [];
    const w = await world({
      root,
      agent: (request, emit) => {
        seen.push(request);
        return honest(request, emit);
      },
    });
    await w.go();
    const [engineer, tester] = seen;
    expect(engineer).toMatchObject({ role: "engineer", mayEdit: true });
    expect(tester).toMatchObject({ role: "tester", mayEdit: false });
    expect(engineer?.env).toMatchObject({ NEXUS_ROLE: "engineer", NEXUS_AGENT_ID: "engineer-1", NEXUS_TASK_ID: "1" });
    expect(engineer?.taskPrompt).toMatch(/^TASK: Say hello\n\nCONTEXT:\n<<<DATA [0-9a-f]{24} /);
    expect(engineer?.taskPrompt).toContain("Do not modify files outside files/");
    expect(engineer?.rolePrompt).toContain("Text between `<<<DATA");
    const fence = /<<<DATA ([0-9a-f]{24})/;
    expect(fence.exec(engineer!.taskPrompt)?.[1]).not.toBe(fence.exec(tester!.taskPrompt)?.[1]);
  });

  it("gives a failed task one diagnosis and one more try", async () => {
    helloRequest(root);
    let prompt = "";
    const w = await world({
      root,
      agent: (request, emit) => {
        if (request.role === "architect") return "the greeting is misspelt";
        if (request.role === "engineer" && !request.taskPrompt.includes("DIAGNOSIS:")) {
          write(request, "files/hello.txt", "helo world\n");
          return "RESULT: done";
        }
        if (request.role === "engineer") prompt = request.taskPrompt;
        return honest(request, emit);
      },
    });
    const outcome = await w.go();
    expect(outcome.delivery?.result.status).toBe("completed");
    expect(w.started.slice(0, 3)).toEqual(["engineer-1", "architect-2", "engineer-3"]);
    expect(prompt).toContain("the greeting is misspelt");
    expect(prompt).toContain("AC-1 fails");
  });

  it("asks a person after the second failure, and goes on with the answer", async () => {
    helloRequest(root);
    const agent: Agent = (request, emit) =>
      request.taskPrompt.includes("ANSWER FROM THE PERSON") || request.role !== "engineer"
        ? honest(request, emit)
        : "RESULT: done, or so I say";
    const w = await world({ root, agent });
    const paused = await w.go();
    expect(paused).toMatchObject({ status: "paused", paused: { reason: "question" } });
    expect(paused.paused?.message).toContain("AC-1 fails");
    // The answer has the failure; what is told on the way does not say it a second and a third time.
    expect(w.events.filter(({ type }) => type === "asked" || type === "paused")).toMatchObject([
      {
        message: 'task 1 ("Say hello") failed again: a person is asked',
        question: expect.stringContaining("AC-1 fails"),
      },
      { message: "paused", hint: expect.stringContaining("nexus resume") },
    ]);
    expect(paused.paused?.hint).toContain("nexus resume r1 --answer");
    expect(existsSync(join(root, "delivery.nut"))).toBe(false);
    const done = await w.go({ answer: "retry", text: "greet the world" });
    expect(done.delivery?.result.status).toBe("completed");
    expect(w.started).toEqual(["engineer-1", "architect-2", "engineer-3", "engineer-4", "tester-5", "reviewer-6"]);
  });

  it("delivers what is there as failed when nobody is to be asked", async () => {
    helloRequest(root);
    const w = await world({ root, agent: () => "RESULT: done, trust me", options: { yes: true } });
    const { result } = (await w.go()).delivery!;
    expect(result).toMatchObject({ status: "failed", completion_percentage: 0 });
    expect(result.acceptance_results?.tests_failed).toBe(1);
  });

  it("never calls completed what nothing proved and nobody judged", async () => {
    helloRequest(root, { acceptance: {} });
    rmSync(join(root, "request/tests"), { recursive: true });
    const w = await world({ root, agent: honest, options: { force: true } });
    const { result } = (await w.go()).delivery!;
    expect(result.status).toBe("partial");
    expect(result.completion_percentage).toBeUndefined();
    expect(result.summary).toMatch(/Missing: there is no checklist to judge it by\.$/);
  });

  it("completes a document by its judged checklist, and says that nothing was proven", async () => {
    helloRequest(root, { acceptance: { checklist: ["it greets"] } });
    rmSync(join(root, "request/tests"), { recursive: true });
    const { result } = (await (await world({ root, agent: honest })).go()).delivery!;
    expect(result).toMatchObject({ status: "completed", completion_percentage: 100 });
    expect(result.summary).toContain("Nothing in it could be proven by a run");
    const lazy: Agent = (request) => (request.role === "reviewer" ? honest(request, () => {}) : "RESULT: done");
    const idle = await world({ root, agent: lazy, options: { id: "r2", output: join(root, "second.nut") } });
    expect((await idle.go()).delivery?.result.status).toBe("partial");
  });

  it("repairs what only the final acceptance finds", async () => {
    helloRequest(root);
    const plan = join(root, "plan.json");
    const tasks = [
      { title: "one", files: ["files/a.txt"] },
      { title: "two", files: ["files/b.txt"] },
    ];
    writeFileSync(plan, JSON.stringify({ tasks }));
    const w = await world({
      root,
      options: { plan, jobs: 2 },
      agent: async (request, emit) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (request.taskPrompt.startsWith("TASK: Repair") || request.role === "reviewer") return honest(request, emit);
        if (request.role === "engineer") write(request, request.task === 1 ? "files/a.txt" : "files/b.txt", "x");
        return "RESULT: done";
      },
    });
    const outcome = await w.go();
    expect(outcome.delivery?.result.status).toBe("completed");
    expect(w.started).toEqual(["engineer-1", "engineer-2", "architect-3", "engineer-4", "reviewer-5"]);
    expect(outcome.delivery?.result.execution_log?.strategy_used).toBe("parallel");
  });
});

describe("limits", () => {
  const misbehaves =
    (act: (request: AgentRequest) => void, role = "engineer"): Agent =>
    (request, emit) => {
      const said = honest(request, emit);
      if (request.role === role && !request.taskPrompt.includes("WHAT WENT WRONG BEFORE")) act(request);
      return said;
    };
  const problems = async (agent: Agent) => {
    const w = await world({ root, agent });
    const outcome = await w.go();
    return { outcome, failed: w.journal().flatMap((event) => (event.type === "task_failed" ? event.problems : [])), w };
  };

  it("takes back whatever a role that may not edit left, and fails its task", async () => {
    helloRequest(root);
    const { outcome, failed, w } = await problems(
      misbehaves(({ cwd }) => put(cwd, { "files/sneaky.txt": "x" }), "tester"),
    );
    expect(failed).toEqual([
      "the tester may not change files, but changed files/sneaky.txt; the change was taken back",
    ]);
    expect(outcome.delivery?.result.status).toBe("completed");
    expect(existsSync(join(w.folder.main, "files/sneaky.txt"))).toBe(false);
  });

  it.each([
    ["an empty folder", (cwd: string) => mkdirSync(join(cwd, "files/empty")), "files/empty"],
    ["a link", (cwd: string) => symlinkSync("hello.txt", join(cwd, "files/link")), "files/link"],
    ["a deletion", (cwd: string) => rmSync(join(cwd, "context/requirements.md")), "context/requirements.md"],
  ])("sees %s left by a role that may not edit", async (_, act, path) => {
    helloRequest(root);
    const { failed } = await problems(misbehaves(({ cwd }) => act(cwd), "reviewer"));
    expect(failed.join()).toContain(path);
  });

  it("enforces path constraints by comparing the tree", async () => {
    helloRequest(root);
    const { failed, outcome } = await problems(misbehaves(({ cwd }) => put(cwd, { "README.md": "hi" })));
    expect(failed).toEqual(['README.md was changed against the constraint "Do not modify files outside files/"']);
    expect(outcome.delivery?.result.artifacts?.files_created).toEqual([]);
  });

  it("refuses links that leave the working folder", async () => {
    helloRequest(root);
    const { failed } = await problems(misbehaves(({ cwd }) => symlinkSync("/etc/passwd", join(cwd, "files/link"))));
    expect(failed).toEqual(["files/link is a link that leaves the working folder"]);
  });

  it("puts the request's own tests back and says so", async () => {
    helloRequest(root, { harness: { execution_strategy: "one-shot" } });
    const cheat: Agent = (request) => {
      if (request.role === "engineer") put(request.cwd, { "tests/hello.sh": "exit 0\n" });
      return "RESULT: done, all tests pass";
    };
    const w = await world({ root, agent: cheat, options: { yes: true } });
    const { result } = (await w.go()).delivery!;
    expect(result.status).toBe("failed");
    expect(result.execution_log?.issues_encountered).toContain(
      "the request's own tests were changed (tests/hello.sh); they are put back",
    );
    expect(result.artifacts?.files_modified).toEqual([]);
  });

  it("keeps a task to its files", async () => {
    helloRequest(root);
    const plan = join(root, "plan.json");
    writeFileSync(plan, JSON.stringify({ tasks: [{ title: "greet", files: ["files/hello.txt"] }] }));
    const w = await world({ root, options: { plan }, agent: misbehaves(({ cwd }) => put(cwd, { "files/x": "1" })) });
    await w.go();
    expect(w.journal().flatMap((event) => (event.type === "task_failed" ? event.problems : []))).toEqual([
      "files/x lies outside the files of this task",
    ]);
  });

  it("puts the task list right when an agent moves it", async () => {
    helloRequest(root);
    const w = await world({
      root,
      agent: async (request, emit) => {
        const project = openProject(request.cwd, { env: request.env });
        const { updateTask } = await import("../../src/state/index.js");
        if (request.role === "engineer") await updateTask(project, { id: 3, status: "completed" }, new Date());
        if (request.role === "tester") {
          const list = listTasks(project) as { tasks: { id: number; status: string }[] };
          expect(list.tasks.find(({ id }) => id === 3)?.status).toBe("pending");
        }
        return honest(request, emit);
      },
    });
    const { result } = (await w.go()).delivery!;
    expect(result.execution_log?.issues_encountered?.join()).toContain("moved task 3 to completed");
    expect(w.started).toHaveLength(3);
  });

  it("stops when the request in the run's folder was changed", async () => {
    helloRequest(root);
    const w = await world({
      root,
      agent: (request, emit) => {
        if (request.role === "reviewer") put(w.folder.request, { "tests/hello.sh": "exit 0\n" });
        return honest(request, emit);
      },
    });
    await expect(w.go()).rejects.toThrow(/changed while agents worked/);
    expect(existsSync(join(root, "delivery.nut"))).toBe(false);
  });

  it("refuses an incomplete request before anybody works", async () => {
    helloRequest(root, { context: { requirements: "context/missing.md" } });
    const w = await world({ root, agent: honest });
    await expect(w.go()).rejects.toMatchObject({
      code: "BUNDLE_INCOMPLETE",
      message: expect.stringMatching(/^the request is incomplete: context\.requirements: /),
    });
    expect(w.started).toEqual([]);
    const forced = await world({ root, agent: honest, options: { force: true } });
    expect((await forced.go()).status).toBe("delivered");
  });

  it("calls a packed request incomplete only if check does", async () => {
    // Set aside while unpacking, so it is not where the manifest says; the bundle itself lacks nothing.
    helloRequest(root, { context: { requirements: "AGENTS.md" } }, { "AGENTS.md": "write hello world" });
    const request = join(root, "request.nut");
    await packFolder(join(root, "request"), { output: request });
    const w = await world({ root, agent: honest, options: { request } });
    expect((await w.go()).status).toBe("delivered");
  });

  it("shows no plan for a request it would refuse", async () => {
    helloRequest(root, { task: { title: "Say hello", summary: "" } });
    const w = await world({ root, agent: honest });
    await expect(w.preview()).rejects.toMatchObject({ code: "BUNDLE_INCOMPLETE" });
    await expect(w.preview({ force: true })).resolves.toMatchObject({ status: "planned" });
  });
});

describe("breakers and pauses", () => {
  const forever: Agent = () => new Promise(() => {});

  it.each([
    ["agent", ["agent=200ms"], forever],
    ["stall", ["stall=200ms"], forever],
    ["time", ["time=200ms"], forever],
    [
      "loop",
      ["loop=5"],
      (_: AgentRequest, emit: Parameters<Agent>[1]) => {
        for (let i = 0; i < 20; i += 1) emit({ type: "tool", name: "read", key: "same" });
        return new Promise<string>(() => {});
      },
    ],
    [
      "tokens",
      ["tokens=100"],
      (_: AgentRequest, emit: Parameters<Agent>[1]) => {
        emit({ type: "usage", tokens: 150, costUsd: 0 });
        return new Promise<string>(() => {});
      },
    ],
    [
      "cost",
      ["cost=1"],
      (_: AgentRequest, emit: Parameters<Agent>[1]) => {
        emit({ type: "usage", tokens: 1, costUsd: 1.5 });
        return new Promise<string>(() => {});
      },
    ],
  ] as const)("the %s breaker pauses the run and says how to go on", async (breaker, budget, agent) => {
    helloRequest(root);
    const w = await world({ root, agent: agent as Agent, budget });
    const paused = await w.go();
    expect(paused).toMatchObject({ status: "paused", paused: { reason: breaker } });
    expect(paused.paused?.hint).toMatch(new RegExp(`^nexus resume r1 --budget ${breaker}=`));
    const done = await w.go(null, { agent: honest, budget: ["time=1h,tokens=1M,cost=100,agent=1h,stall=1h,loop=99"] });
    expect(done.delivery?.result.status).toBe("completed");
  });

  it("pauses for a signal and goes on as if nothing had happened", async () => {
    helloRequest(root);
    const controller = new AbortController();
    const w = await world({
      root,
      signal: controller.signal,
      agent: (request, emit) => {
        if (request.role !== "tester") return honest(request, emit);
        controller.abort("SIGTERM");
        return new Promise(() => {});
      },
    });
    await expect(w.go()).rejects.toMatchObject({ code: "INTERRUPTED" });
    expect(w.state().paused?.reason).toBe("interrupted");
    const done = await w.go(null, { agent: honest, signal: new AbortController().signal });
    expect(done.delivery?.result.status).toBe("completed");
    expect(w.started).toEqual(["engineer-1", "tester-2", "tester-3", "reviewer-4"]);
  });

  it("lets a person read and edit the plan before anything is done", async () => {
    helloRequest(root);
    const file = join(root, "plan.json");
    const tasks = [{ title: "greet" }, { title: "look", owner: "reviewer", deps: [1] }];
    writeFileSync(file, JSON.stringify({ decisions: ["use the network"], tasks }));
    const w = await world({ root, agent: honest, options: { plan: file, review_plan: true } });
    const paused = await w.go();
    expect(paused.paused).toMatchObject({ reason: "review", hint: "nexus resume r1" });
    expect(w.started).toEqual([]);
    const plan = JSON.parse(readFileSync(w.folder.plan, "utf8"));
    expect(plan.decisions).toEqual(["use the network"]);
    writeFileSync(w.folder.plan, JSON.stringify({ ...plan, decisions: ["stay here"], tasks: plan.tasks.slice(0, 1) }));
    const done = await w.go();
    expect(done.status).toBe("delivered");
    expect(done.delivery!.result.execution_log?.decisions).toEqual([{ decision: "stay here" }]);
    // The person took the review out, but the checklist still has to be judged by someone.
    expect(w.started).toEqual(["engineer-1", "reviewer-2"]);
  });

  it("starts no plan whose reader was interrupted before they agreed", async () => {
    helloRequest(root);
    const w = await world({ root, agent: honest, options: { review_plan: true } });
    const stop = new AbortController();
    const asked: string[] = [];
    const answering = (confirm: Prompter["confirm"]): Prompter => ({ text: nobody, secret: nobody, confirm });
    const leaving = answering(async () => {
      stop.abort("SIGINT");
      throw new Error("stopped at a question");
    });
    const refusing = answering(async (question) => asked.push(question) < 0);
    await expect(w.go(null, { signal: stop.signal, ask: leaving })).rejects.toMatchObject({ code: "INTERRUPTED" });
    expect((await w.go(null, { ask: refusing })).paused).toMatchObject({ reason: "review" });
    expect(asked).toEqual([`run this plan (${w.folder.plan})?`]);
    expect(w.started).toEqual([]);
  });

  it("lets only one process work on a run", async () => {
    helloRequest(root);
    const w = await world({
      root,
      agent: async (request, emit) => {
        if (request.role === "engineer") await expect(w.go()).rejects.toMatchObject({ code: "RUN_BUSY" });
        return honest(request, emit);
      },
    });
    expect((await w.go()).status).toBe("delivered");
  });

  it("keeps a checkpoint after each task when asked", async () => {
    helloRequest(root, { harness: { execution_strategy: "one-shot", checkpoints: true } });
    const w = await world({ root, agent: honest });
    const { result } = (await w.go()).delivery!;
    expect(result.execution_log?.checkpoints).toHaveLength(3);
    const bundle = await openBundle(join(w.folder.checkpoints, "001-task-1.nut"));
    expect(bundle.manifest).toMatchObject({ bundle_type: "checkpoint", parent_id: MANIFEST.id });
    expect(await bundle.readText("files/hello.txt")).toBe("hello world\n");
    await bundle.close();
  });
});

describe("sessions and merges", () => {
  const lines = (middle: string) => `top\n${middle}\nbottom\n`;
  const tasks = [
    { title: "first", files: ["files/shared.txt"] },
    { title: "second", files: ["files/shared.txt"] },
  ];

  it("continues an interrupted session where it was, and makes a task of the conflict that brings", async () => {
    helloRequest(root, {}, { "files/shared.txt": lines("middle"), "files/hello.txt": "hello world\n" });
    writeFileSync(join(root, "plan.json"), JSON.stringify({ tasks }));
    const controller = new AbortController();
    let resumed: AgentRequest | null = null;
    let conflict = "";
    const agent: Agent = (request, emit) => {
      const shared = join(request.cwd, "files/shared.txt");
      if (request.role === "architect") return "try again";
      if (request.role !== "engineer") return honest(request, emit);
      emit({ type: "session", id: `session-of-${request.agent}` });
      if (request.taskPrompt.startsWith("TASK: Merge:")) {
        conflict = readFileSync(shared, "utf8");
        writeFileSync(shared, lines("one and two"));
        return "RESULT: done";
      }
      if (request.task === 1) {
        if (!request.taskPrompt.includes("ANSWER FROM")) return { outcome: "failed", text: "", error: "no idea" };
        writeFileSync(shared, lines("one"));
        return "RESULT: done";
      }
      if (request.resume === undefined) {
        writeFileSync(shared, lines("two"));
        controller.abort("SIGINT");
        return new Promise(() => {});
      }
      resumed = request;
      return "RESULT: done";
    };
    const w = await world({
      root,
      agent,
      runner: { canResume: true },
      options: { plan: join(root, "plan.json"), jobs: 1 },
      signal: controller.signal,
    });
    await expect(w.go()).rejects.toMatchObject({ code: "INTERRUPTED" });
    const done = await w.go({ answer: "retry", text: "just do it" }, { signal: new AbortController().signal });
    expect(done.status).toBe("delivered");
    // The second task went on in its own session and its own tree, which the first one's change never touched.
    expect(resumed).toMatchObject({ task: 2, resume: expect.stringMatching(/^session-of-engineer-/) });
    expect(w.state().agents.get(resumed!.agent)).toMatchObject({ mode: "resume", reason: "it was interrupted" });
    expect(conflict).toMatch(/<<<<<<< finished tasks\none\n[\s\S]*=======\ntwo\n>>>>>>> task 2/);
    expect(readFileSync(join(w.folder.main, "files/shared.txt"), "utf8")).toBe(lines("one and two"));
    const { tasks: after } = w.state();
    expect([...after.values()].map(({ task, status }) => `${task.kind} ${status}`)).toEqual([
      "work completed",
      "work completed",
      "merge completed",
      "review completed",
    ]);
    expect(done.delivery?.result.execution_log?.issues_encountered?.join()).toContain("conflict in files/shared.txt");
  });

  it("refuses a merge that leaves conflict markers", async () => {
    const { hasMarkers } = await import("../../src/trees/merge.js");
    expect(hasMarkers("a\n<<<<<<< finished tasks\nb\n")).toBe(true);
    expect(hasMarkers("a << b\n=======\n")).toBe(false);
  });

  it("records in the tracker and the edit tracker who did what", async () => {
    helloRequest(root);
    let tracked: unknown;
    let edits: unknown;
    const w = await world({
      root,
      agent: (request, emit) => {
        if (request.role === "reviewer") {
          const { store } = openProject(request.cwd, { env: request.env });
          tracked = store.read(agentTracker)?.map(({ agent_id, status }) => `${agent_id} ${status}`);
          edits = Object.keys(store.read(editTracker)?.files ?? {});
        }
        return honest(request, emit);
      },
    });
    await w.go();
    expect(tracked).toEqual(["engineer-1 completed", "tester-2 completed", "reviewer-3 running"]);
    expect(edits).toEqual(["files/hello.txt"]);
  });
});

describe("dying", () => {
  it("at any record, and going on, ends in the same tree with nothing done twice", async () => {
    // Every fifth record here; tests/torture takes every one, before and after.
    await dieEverywhere(root, (n) => (n % 5 === 1 ? [n % 2 === 1 ? "before" : "after"] : []));
  }, 600_000);
});
