// Dying at a record of the journal and going on. Two writers side by side, a failing first try, a diagnosis and readers:
// every kind of record is written.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { treeDigest } from "../../src/acceptance/index.js";
import { historyFile, openProject } from "../../src/state/index.js";
import { type Agent, dieAt, helloRequest, put, world } from "./scripted.js";

const plan = {
  tasks: [
    { title: "greet", files: ["files/hello.txt"], criteria: "all" },
    { title: "other", files: ["files/other.txt"] },
    { title: "check", owner: "tester", deps: [1, 2] },
  ],
};

const agent: Agent = ({ cwd, role, task, taskPrompt }) => {
  if (role === "reviewer") return "VERDICT: pass\n- [passed] 1: files/hello.txt says so";
  if (role === "engineer" && task === 2) put(cwd, { "files/other.txt": "other\n" });
  else if (role === "engineer") {
    put(cwd, { "files/hello.txt": taskPrompt.includes("DIAGNOSIS:") ? "hello world\n" : "helo\n" });
  }
  return "RESULT: done\nSUMMARY: ok";
};

/** `when` says for each record whether to die just before it is written, just after, or both. */
export async function dieEverywhere(root: string, when: (n: number) => readonly ("before" | "after")[]): Promise<void> {
  helloRequest(root);
  writeFileSync(join(root, "plan.json"), JSON.stringify(plan));
  const options = { plan: join(root, "plan.json"), jobs: 2 };
  const whole = await world({ root, agent, options });
  await whole.go();
  const records = whole.journal().length;
  const wanted = treeDigest(whole.folder.main);
  for (let n = 1; n <= records + 1; n += 1) {
    for (const moment of when(n)) {
      rmSync(join(root, "project"), { recursive: true });
      rmSync(join(root, "delivery.nut"), { force: true });
      const w = await world({ root, agent, options });
      await dieAt(n, moment, () => w.go());
      const before = w.state();
      const outcome = await w.go();
      const place = `${moment} record ${n}`;
      expect(outcome.delivery?.result.status, place).toBe("completed");
      expect(treeDigest(w.folder.main), place).toBe(wanted);
      const merges = w.journal().flatMap((event) => (event.type === "merged" ? [event.task] : []));
      expect(merges.sort(), place).toEqual([1, 2, 3, 4]);
      // What was finished before is not started again.
      for (const [id, { status }] of before.tasks) {
        if (status === "completed") expect(tries(w.state(), id), place).toBe(tries(before, id));
      }
      const history = openProject(join(root, "project"), {}).store.read(historyFile);
      expect(history?.cycles, place).toHaveLength(1);
    }
  }
}

const tries = ({ agents }: ReturnType<Awaited<ReturnType<typeof world>>["state"]>, id: number) =>
  [...agents.values()].filter(({ task }) => task === id).length;
