import { describe, expect, it } from "vitest";
import type { Manifest } from "../../schema/manifest.js";
import { defaultPlan, listInText, type PlanFacts, planProblems, readPlan } from "./plan.js";

const roles = new Map([
  ["engineer", "do"],
  ["researcher", "do"],
  ["writer", "do"],
  ["strategist", "how"],
  ["tester", "check"],
  ["reviewer", "check"],
] as const);
const manifest: Manifest = {
  nutshell_version: "0.2.0",
  bundle_type: "request",
  id: "nut-1",
  task: { title: "Fix the parser", summary: "It drops the last line" },
  acceptance: { checklist: ["last line is kept"] },
};
const facts = (extra: Partial<PlanFacts> = {}): PlanFacts => ({ manifest, roles, hasCriteria: true, ...extra });

describe("plans", () => {
  it("derives work, verify and review from a manifest", () => {
    const plan = defaultPlan(facts());
    expect(plan.tasks.map(({ owner, deps, kind, criteria }) => ({ owner, deps, kind, criteria }))).toEqual([
      { owner: "engineer", deps: [], kind: "work", criteria: "all" },
      { owner: "tester", deps: [1], kind: "verify", criteria: undefined },
      { owner: "reviewer", deps: [1, 2], kind: "review", criteria: undefined },
    ]);
    expect(plan.tasks[0]?.acceptance).toBe("- last line is kept");
  });

  it("follows the request's hint for the kind of work", () => {
    const research = { ...manifest, harness: { agent_type_hint: "research" as const } };
    expect(defaultPlan(facts({ manifest: research })).tasks[0]?.owner).toBe("researcher");
  });

  it("numbers tasks of a file and takes their kind from their owner", () => {
    const plan = readPlan("file", { tasks: [{ title: "a" }, { title: "b", owner: "reviewer", deps: [1] }] }, facts());
    expect(plan.tasks.map(({ id, kind, context }) => [id, kind, context])).toEqual([
      [1, "work", "a"],
      [2, "review", "b"],
    ]);
  });

  it("refuses a plan that could never finish, and says why", () => {
    const task = (id: number, deps: number[], owner = "engineer") =>
      ({ id, title: "t", context: "c", deps, owner, kind: "work" }) as const;
    const known = new Set(roles.keys());
    expect(planProblems([task(1, [2]), task(2, [1])], known)).toEqual(["tasks 1, 2 wait for each other"]);
    expect(planProblems([task(1, [1])], known)).toEqual(["tasks 1 wait for each other"]);
    expect(planProblems([task(1, [9])], known)).toEqual(["task 1 waits for task 9, which does not exist"]);
    expect(planProblems([task(1, []), task(1, [])], known)).toEqual(["task 1 appears twice"]);
    expect(planProblems([task(1, [], "wizard")], known)).toEqual(['task 1 is owned by "wizard", which is not a role']);
    expect(() => readPlan("file", { tasks: [] }, facts())).toThrow(/plan is not valid/);
    expect(() => readPlan("file", { tasks: [{ title: "a", kind: "merge" }] }, facts())).toThrow(/tasks\.0\.kind/);
  });

  it("finds the files a Lead wrote into a task's text", () => {
    expect(listInText("FILES", ["do it\nFILES: src/a.ts, `src/b.ts`\n"])).toEqual(["src/a.ts", "src/b.ts"]);
    expect(listInText("CRITERIA", [undefined, "criteria: AC-1"])).toEqual(["AC-1"]);
    expect(listInText("FILES", ["no files here", undefined])).toBeUndefined();
  });
});
