// Ends that nobody planned for, and what the next command makes of them.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Agent, helloRequest, put, scratch, sweep, world } from "./scripted.js";

let root: string;
beforeEach(() => {
  root = scratch();
});
afterEach(sweep);

const review = "VERDICT: pass\n- [passed] 1: files/hello.txt says so";

describe("an agent that ends itself as cancelled", () => {
  it("fails its try; it is not started for ever", async () => {
    helloRequest(root);
    const w = await world({ root, agent: () => ({ outcome: "stopped", text: "" }), options: { yes: true } });
    const { result } = (await w.go()).delivery!;
    expect(result.status).toBe("failed");
    expect(w.started.filter((agent) => agent.startsWith("engineer"))).toHaveLength(2);
    expect(result.execution_log?.issues_encountered).toContain(
      "the agent ended with an error: it was stopped from outside",
    );
  });
});

describe("a conflict", () => {
  const text = (middle: string) => `top\n${middle}\nbottom\n`;
  const shared = "files/shared.txt";

  /** The second task is interrupted, the first changes the same line, the second goes on and conflicts. */
  async function conflict() {
    helloRequest(root, {}, { [shared]: text("middle"), "files/hello.txt": "hello world\n" });
    const tasks = ["first", "second"].map((title) => ({ title, files: [shared] }));
    writeFileSync(join(root, "plan.json"), JSON.stringify({ tasks }));
    const controller = new AbortController();
    const agent: Agent = (request, emit) => {
      if (request.role === "reviewer") return review;
      emit({ type: "session", id: `session-of-${request.agent}` });
      if (request.taskPrompt.startsWith("TASK: Merge:")) put(request.cwd, { [shared]: text("one and two") });
      else if (request.role !== "engineer") return "try again";
      else if (request.task === 1) {
        if (!request.taskPrompt.includes("ANSWER FROM")) return { outcome: "failed", text: "", error: "no idea" };
        put(request.cwd, { [shared]: text("one") });
      } else if (request.resume === undefined) {
        put(request.cwd, { [shared]: text("two") });
        controller.abort("SIGINT");
        return new Promise(() => {});
      }
      return "RESULT: done";
    };
    const options = { plan: join(root, "plan.json"), jobs: 1 };
    const w = await world({ root, agent, runner: { canResume: true }, options, signal: controller.signal });
    await expect(w.go()).rejects.toMatchObject({ code: "INTERRUPTED" });
    return w;
  }

  it("whose merge was done just before the run was killed is not left open", async () => {
    const w = await conflict();
    const going = { signal: new AbortController().signal };
    await w.go({ answer: "retry", text: "just do it" }, going);
    const merge = [...w.state().tasks.values()].find(({ task }) => task.kind === "merge")!.task.id;
    const at = w.journal().findIndex((record) => record.type === "task_completed" && record.task === merge);
    const lines = readFileSync(w.folder.journal, "utf8").split("\n");
    writeFileSync(
      w.folder.journal,
      lines
        .slice(0, at + 1)
        .map((line) => `${line}\n`)
        .join(""),
    );
    rmSync(join(root, "delivery.nut"));
    expect(w.state().tasks.get(2)?.status).toBe("conflict");
    const done = await w.go(null, going);
    expect(done.delivery?.result.status).not.toBe("failed");
    expect([...w.state().tasks.values()].map(({ task, status }) => `${task.kind} ${status}`)).toEqual([
      "work completed",
      "work completed",
      "merge completed",
      "review completed",
    ]);
    expect(readFileSync(join(w.folder.main, shared), "utf8")).toBe(text("one and two"));
  });
});
