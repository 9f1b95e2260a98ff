// Names that change their kind, and merges that do not end: neither keeps agents busy, and paid, for ever.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Agent, helloRequest, put, scratch, sweep, world } from "./scripted.js";

let root: string;
beforeEach(() => {
  root = scratch();
  helloRequest(root);
  put(join(root, "request"), { "files/old.txt": "old\n", "files/deep/inner.txt": "inner\n", "files/both.bin": "\0" });
});
afterEach(sweep);

const plan = (tasks: readonly object[]) => {
  put(root, { "plan.json": JSON.stringify({ goal: "turn", tasks }) });
  return join(root, "plan.json");
};
const ENGINEER = { title: "turn", owner: "engineer", files: ["files/"] };

it("brings in a file that became a folder and a folder that became a file, at once", async () => {
  const agent: Agent = ({ cwd, role }) => {
    if (role !== "engineer") return "VERDICT: pass\n- [passed] 1: files/hello.txt says so";
    for (const name of ["files/old.txt", "files/deep"]) rmSync(join(cwd, name), { recursive: true, force: true });
    put(cwd, { "files/old.txt/new.txt": "new\n", "files/deep": "a file\n", "files/hello.txt": "hello world\n" });
    return "RESULT: done\nSUMMARY: turned";
  };
  const w = await world({ root, agent, options: { plan: plan([ENGINEER]) } });
  const { delivery } = await w.go();
  expect(w.started.filter((name) => name.startsWith("engineer"))).toHaveLength(1);
  expect(delivery?.result.status).toBe("completed");
  expect(delivery?.result.acceptance_results).toMatchObject({ tests_passed: 1, tests_failed: 0 });
});

it("asks a person when merging a merge conflicts again and again", async () => {
  let times = 0;
  // Both write a binary file, and so does whoever merges them, each time another one, while the other does it again.
  const agent: Agent = ({ cwd }) => {
    times += 1;
    if (times > 40) throw new Error("still at it");
    put(cwd, { "files/both.bin": `\0${times}`, "files/hello.txt": "hello world\n" });
    return "RESULT: done\nSUMMARY: wrote it";
  };
  const two = [1, 2, 3, 4].map((n) => ({ ...ENGINEER, title: `write ${n}`, files: [`files/${n}`] }));
  const w = await world({ root, agent, options: { plan: plan(two), jobs: 4 } });
  const { status } = await w.go();
  expect(["delivered", "paused"]).toContain(status);
  expect(times).toBeLessThan(30);
});
