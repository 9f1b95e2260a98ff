import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { addTask, openProject } from "../../src/state/index.js";
import { lockKills } from "./lock-trials.js";
import { freshProject } from "./nexus.js";
import { ServerProcess, WITHOUT_ADDON } from "./server-process.js";
import {
  canMount,
  fullDisk,
  isLinearizable,
  killAtSystemCalls,
  kills,
  lastDecision,
  lastTask,
  MUTATING,
  manyWriters,
  register,
} from "./trials.js";

const hasStrace = spawnSync("strace", ["-V"]).status === 0;

describe("many at once", () => {
  it("loses nothing when only every second of 8 servers has the kernel's lock", async () => {
    const project = freshProject();
    const some = await manyWriters(project, 8, 15, (who) => (who % 2 === 0 ? WITHOUT_ADDON : {}));
    expect(some).toEqual({ failed: 0, lost: 0, duplicateIds: 0, duplicateAnswers: 0 });
    const left = readdirSync(join(project, ".nexus/state/nutcracker")).filter((name) => name.includes(".claim"));
    expect(left).toEqual([]);
  });

  it("loses nothing and numbers nothing twice: 4 servers", async () => {
    expect(await manyWriters(freshProject(), 4, 25)).toEqual({
      failed: 0,
      lost: 0,
      duplicateIds: 0,
      duplicateAnswers: 0,
    });
  });

  it.each([
    ["decisions", lastDecision],
    ["tasks", lastTask],
  ])("looks like one after the other: %s", async (_, kept) => {
    const ops = await register(freshProject(), 3, 20, kept);
    expect(isLinearizable(ops)).toBe(true);
  });

  it("would notice if it did not", () => {
    const op = (value: string, start: number, end: number) => ({ value, start, end });
    expect(isLinearizable([op("a", 0, 1), op("b", 2, 3), op("a", 4, 5)])).toBe(false);
    expect(isLinearizable([op("a", 0, 1), op("b", 2, 3), op("b", 4, 5)])).toBe(true);
  });
});

describe("killed", () => {
  it("keeps every acknowledged change: 6 kills", async () => {
    const { lost, torn, twice, acknowledged } = await kills(freshProject(), 6, 3);
    expect({ lost, torn, twice }).toEqual({ lost: 0, torn: 0, twice: 0 });
    expect(acknowledged).toBeGreaterThan(0);
  });

  it.skipIf(!hasStrace)("at a system call leaves the old or the new", async () => {
    const { tried, wrong } = await killAtSystemCalls(MUTATING[2]!, 5);
    expect(wrong).toEqual([]);
    expect(tried).toBeGreaterThan(3);
  });

  it.each([
    ["that need no kernel", "files"],
    ["of both kinds", "mixed"],
  ] as const)("loses no count under locks %s", async (_, kinds) => {
    const { counted, twice } = await lockKills(freshProject(), 4, 10, kinds);
    expect(twice).toBe(0);
    expect(counted).toBeGreaterThan(9);
  });
});

describe("in trouble", () => {
  it.skipIf(!canMount())("changes all or nothing on a full disk", async () => {
    const { refused, done, wrong } = await fullDisk([0, 1, 2, 3, 4, 5, 6, 8, 16]);
    expect(wrong).toEqual([]);
    expect(refused).toBeGreaterThan(0);
    expect(done).toBeGreaterThan(0);
  });

  it("gives up on a stopped holder, names it, and goes on when it is gone", async () => {
    const folder = freshProject();
    const server = await new ServerProcess(folder).start();
    await server.call("task_add", { title: "t", context: "c" });
    // Stopped while it holds the lock: it asks for the lock again and again until one stop hits.
    const project = openProject(folder, { env: { NEXUS_PROJECT_DIR: folder }, lockWaitMs: 300 });
    const busy = (async () => {
      for (;;)
        await server
          .call("task_update", { id: 1, status: "in_progress" })
          .then(() => server.call("task_update", { id: 1, status: "pending" }));
    })().catch(() => {});
    let message = "";
    for (let attempt = 0; attempt < 200 && message === ""; attempt += 1) {
      await new Promise((done) => setTimeout(done, Math.random() * 8));
      server.child.kill("SIGSTOP");
      message = await addTask(project, { title: "x", context: "c" }, new Date()).then(
        () => "",
        (error) => error.message,
      );
      if (message === "") server.child.kill("SIGCONT");
    }
    // A stop may hit it between taking the lock and saying so; then nobody is named, least of all who had it before.
    const held = (who: string) => `the project's state is held by ${who} for more than 0.3 s`;
    expect([held(`process ${server.child.pid}`), held("another process")]).toContain(message);
    await server.kill();
    await busy;
    await addTask(project, { title: "after", context: "c" }, new Date());
    project.store.forget();
  });
});
