import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { readContenders } from "../../src/commands/nexus/race/contenders.js";
import { Tries } from "../../src/commands/nexus/race/tries.js";
import { believedOptions, recordStarted } from "../../src/commands/nexus/run/run-consent.js";
import type { Context } from "../../src/operation.js";
import { createRun, parseBudget, runsFolder } from "../../src/run/index.js";
import type { RunOptions } from "../../src/schema/run.js";
import { temporary } from "../temporary.js";
import { put } from "./scripted.js";

let cwd: string;
beforeEach(() => {
  cwd = join(temporary("nut-race-"), "project");
  mkdirSync(cwd);
});

describe("the folder of a race", () => {
  it("a delivery that is there keeps its name", () => {
    put(cwd, { "a.nut": "", "a-2.nut": "", "b/a.nut": "" });
    const tries = new Tries(cwd);
    const wanted = { subject: { name: "b", path: "", digest: "" }, contender: readContenders(["a=codex"])[0]! };
    const name = (trial: number, only: boolean) => tries.delivery({ ...wanted, trial }, only).slice(cwd.length + 1);
    expect([name(1, true), name(2, true), name(3, true), name(1, false)]).toEqual([
      "a.2.nut",
      "a-2.2.nut",
      "a-3.nut",
      "b/a.2.nut",
    ]);
  });
});

describe("a known solution", () => {
  it("is laid over the work only for whoever named it", () => {
    const options: RunOptions = {
      id: "r1",
      created_at: new Date().toISOString(),
      title: "x",
      request_id: "x",
      request: cwd,
      driver: "oracle",
      oracle: "/home/somebody/.ssh",
      budget: parseBudget([]),
      review_plan: false,
      yes: true,
      force: false,
      output: join(cwd, "x.nut"),
    };
    const folder = createRun(runsFolder(cwd), options);
    const context = { env: { HOME: join(cwd, "home") }, cwd, progress: () => {} } as unknown as Context;
    // Nobody here started it: what it names is not the person's word.
    expect(believedOptions(folder, options, context).oracle).toBeUndefined();
    recordStarted(folder, context);
    expect(believedOptions(folder, options, context).oracle).toBe("/home/somebody/.ssh");
  });
});

describe("who takes part", () => {
  it.each([
    ["codex", { label: "codex", driver: "codex" }],
    ["claude:opus", { label: "claude:opus", driver: "claude", model: "opus" }],
    ["opencode:a/b:free", { label: "opencode:a/b:free", driver: "opencode", model: "a/b:free" }],
    ["x=command:env A=b ./agent", { label: "x", driver: "command", command: "env A=b ./agent" }],
  ])("reads %s", (word, wanted) => {
    expect(readContenders([word])[0]).toMatchObject(wanted);
  });

  it.each([
    [[], "nobody takes part"],
    [["codx"], 'there is no driver "codx"'],
    [["noop"], "always in the table"],
    [["command"], "needs a program's line"],
    [["claude:"], "needs a model"],
    [["codex", "codex"], "two take part as codex"],
    [["claude:a b", "claude:a-b"], "two take part as claude:a-b"],
  ])("refuses %j", (words, why) => {
    expect(() => readContenders(words)).toThrow(why);
  });
});
