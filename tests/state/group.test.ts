// What several processes may find of each other while changes of the task list wait to be written.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { addTask, closeCycle, openLock, openProject, updateTask } from "../../src/state/index.js";
import { LedgerFile } from "../../src/state/ledger.js";
import { freshProject } from "./nexus.js";

const hasStrace = spawnSync("strace", ["-V"]).status === 0;
const now = new Date();

function opened(lockWaitMs = 5_000) {
  const folder = freshProject();
  const own = join(folder, ".nexus/state/nutcracker");
  const tasks = join(folder, ".nexus/state/tasks.json");
  return {
    folder,
    tasks,
    ledger: join(own, "tasks.json.ledger"),
    settlers: openLock(join(own, "settle.lock")),
    project: (harnessId = "nutcracker") =>
      openProject(folder, { env: { NEXUS_PROJECT_DIR: folder }, harnessId, lockWaitMs }),
    titles: () =>
      (JSON.parse(readFileSync(tasks, "utf8")).tasks as { title: string }[]).map(({ title }) => title).sort(),
  };
}

const add = (project: ReturnType<typeof openProject>, title: string) => addTask(project, { title, context: "c" }, now);

/** Waits until a change stands in the ledger and not yet in the file. */
async function entered({ ledger }: ReturnType<typeof opened>): Promise<void> {
  const isEntered = () =>
    existsSync(ledger) &&
    LedgerFile.use(ledger, (file) => {
      const head = file.head();
      return head !== null && head.last > head.placed;
    });
  for (let tries = 0; tries < 500 && !isEntered(); tries += 1) await sleep(10);
  expect(isEntered()).toBe(true);
}

/** Entered in the ledger, and waiting for a settler that does not come. */
async function waiting(state: ReturnType<typeof opened>, title: string) {
  await add(state.project(), "first");
  expect(state.settlers.tryAcquire()).toBe(true);
  const before = state.titles();
  const answer = add(state.project(), title);
  await entered(state);
  expect(state.titles()).toEqual(before);
  return answer;
}

describe("changes that are settled in a group [P5]", () => {
  it("are written together when they arrive together", async () => {
    const state = opened();
    const [one, other] = [state.project(), state.project("other")];
    await add(one, "0");
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => add(i % 2 === 0 ? one : other, `${i}`)));
    expect(new Set(answers.map(({ task }) => task.id)).size).toBe(60);
    expect(state.titles()).toHaveLength(61);
  });

  it("are not answered before they are in the file", async () => {
    const state = opened();
    let answered = false;
    await add(state.project(), "first");
    state.settlers.tryAcquire();
    const done = add(state.project(), "second").then(() => {
      answered = true;
    });
    await sleep(150);
    expect({ answered, titles: state.titles() }).toEqual({ answered: false, titles: ["first"] });
    state.settlers.release();
    await done;
    expect(state.titles()).toEqual(["first", "second"]);
  });

  it("are taken back by whoever is refused because nobody settles", async () => {
    const state = opened(300);
    await expect(waiting(state, "refused")).rejects.toMatchObject({ code: "STATE_LOCKED" });
    state.settlers.release();
    await add(state.project("other"), "next");
    expect(state.titles()).toEqual(["first", "next"]);
  });

  it("are made again on top of what someone else wrote meanwhile", async () => {
    const state = opened();
    await add(state.project(), "first");
    state.settlers.tryAcquire();
    const answer = add(state.project(), "mine");
    await sleep(100);
    const foreign = { goal: "", decisions: [], tasks: [{ id: 41, title: "theirs", context: "c", status: "pending" }] };
    writeFileSync(state.tasks, JSON.stringify(foreign));
    state.settlers.release();
    expect((await answer).task.id).toBe(42);
    expect(state.titles()).toEqual(["mine", "theirs"]);
  });

  it("happen once when the settler dies right after the rename", async () => {
    const state = opened();
    await add(state.project(), "first");
    state.settlers.tryAcquire();
    const answer = add(state.project(), "mine");
    await entered(state);
    LedgerFile.use(state.ledger, (file) => {
      const head = file.head()!;
      const entry = file.entries(head).at(-1)![1];
      const value = JSON.parse(readFileSync(state.tasks, "utf8"));
      const beside = `${state.tasks}.new`;
      writeFileSync(beside, JSON.stringify({ ...value, tasks: [...value.tasks, entry.item] }));
      file.writeHead({ ...head, placing: { number: head.last, file: identityWithoutChange(beside) } });
      renameSync(beside, state.tasks);
    });
    state.settlers.release();
    await answer;
    await add(state.project(), "after");
    expect(state.titles()).toEqual(["after", "first", "mine"]);
  });

  it("are entered again when the ledger counts more of them than it holds", async () => {
    const state = opened();
    await add(state.project(), "first");
    state.settlers.tryAcquire();
    const answer = add(state.project(), "mine");
    await entered(state);
    LedgerFile.use(state.ledger, (file) => {
      const head = file.head()!;
      file.writeHead({ ...head, last: head.last + 1 });
    });
    // Another, who knows of the first change from the ledger alone.
    const theirs = add(state.project(), "theirs");
    await sleep(100);
    state.settlers.release();
    await Promise.all([answer, theirs]);
    expect(state.titles()).toEqual(["first", "mine", "theirs"]);
  });

  it("go on when the ledger is garbage, cut short or gone", async () => {
    const state = opened();
    await add(state.project(), "0");
    const whole = readFileSync(state.ledger);
    const damages = [Buffer.from("garbage"), Buffer.alloc(0), Buffer.alloc(5_000), whole.subarray(0, 2_100), whole];
    for (const [i, bytes] of damages.entries()) {
      writeFileSync(state.ledger, bytes);
      await add(state.project(i % 2 === 0 ? "nutcracker" : "other"), `${i + 1}`);
    }
    expect(state.titles()).toEqual(["0", "1", "2", "3", "4", "5"]);
  });

  it("come before a change of several files, which closes over them", async () => {
    const state = opened();
    const project = state.project();
    await add(project, "0");
    const [, closed] = await Promise.all([add(project, "1"), closeCycle(state.project("other"), now)]);
    expect(closed.closed).toBe(true);
    const left = existsSync(state.tasks) ? state.titles().length : 0;
    expect(closed.archived.tasks + left).toBe(2);
    await add(project, "next");
    await updateTask(project, { id: 1, status: "completed" }, now);
    expect(await updateTask(project, { id: 1, status: "pending" }, now)).toMatchObject({ task: { status: "pending" } });
    expect(await updateTask(state.project("other"), { id: 1, status: "in_progress" }, now)).toMatchObject({
      task: { id: 1, status: "in_progress" },
    });
  });
});

describe.skipIf(!hasStrace)("a disk that does not keep what it is given", () => {
  const call = (folder: string, tool: string, args: unknown, strace: readonly string[] = []) => {
    const program = [process.execPath, resolve("bin/nexus.js"), "call", tool, JSON.stringify(args), "--json"];
    const [name, ...rest] = [...strace, ...program];
    const env = { ...process.env, NEXUS_PROJECT_DIR: folder };
    return spawnSync(name!, rest, { cwd: folder, env, encoding: "utf8" });
  };
  const failing = (nth: number) => ["strace", "-qq", "-o", "/dev/null", "-e", `inject=fsync:error=EIO:when=${nth}`];

  it.each([
    ["task_add", { title: "new", context: "c" }, "tasks.json"],
    ["task_update", { id: 1, status: "completed" }, "tasks.json"],
    ["plan_decide", { issue_id: 1, decision: "d" }, "plan.json"],
  ])("is an error from %s, keeps the old state, and the next call works", (tool, args, name) => {
    const { folder } = opened();
    call(folder, "plan_start", { topic: "t", issues: ["i"], research_summary: "r" });
    call(folder, "task_add", { title: "old", context: "c" });
    const path = join(folder, ".nexus/state", name);
    const before = readFileSync(path, "utf8");
    const failed = call(folder, tool, args, failing(1));
    expect({ status: failed.status, out: failed.stdout }).toEqual({ status: 2, out: "" });
    expect(JSON.parse(failed.stderr.trim().split("\n").at(-1)!).error.data).toMatchObject({ errno: "EIO" });
    expect(readFileSync(path, "utf8")).toBe(before);
    const next = call(folder, tool, args);
    expect(next.status).toBe(0);
    expect(readFileSync(path, "utf8")).not.toBe(before);
  });

  it("leaves no file beside when the new one cannot take its place", () => {
    const { folder, tasks, titles } = opened();
    call(folder, "task_add", { title: "old", context: "c" });
    const refusing = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=rename,renameat,renameat2:error=EIO"];
    expect(call(folder, "task_add", { title: "new", context: "c" }, refusing).status).toBe(2);
    expect(readdirSync(dirname(tasks)).filter((name) => name.includes("tasks.json"))).toEqual(["tasks.json"]);
    expect(titles()).toEqual(["old"]);
  });

  it("is asked again to keep a name that a settler which died had not synced", () => {
    const { folder, ledger } = opened();
    call(folder, "task_add", { title: "old", context: "c" });
    LedgerFile.use(ledger, (file) => file.writeDurable(file.head()!, 0));
    const log = join(folder, "calls.log");
    const watched = [
      "strace",
      "-f",
      "-y",
      "-qq",
      "-o",
      log,
      "-e",
      "trace=fsync",
      "-e",
      "inject=fsync:error=EIO:when=1",
    ];
    expect(call(folder, "task_add", { title: "new", context: "c" }, watched).status).toBe(2);
    expect(readFileSync(log, "utf8")).toMatch(/fsync\(\d+<[^>]*\.nexus\/state>\)/);
  });

  it("is an error too when only the name could not be synced", () => {
    const { folder, titles } = opened();
    call(folder, "task_add", { title: "old", context: "c" });
    expect(call(folder, "task_add", { title: "new", context: "c" }, failing(2)).status).toBe(2);
    expect(call(folder, "task_add", { title: "next", context: "c" }).status).toBe(0);
    expect(titles()).toEqual(expect.arrayContaining(["next", "old"]));
  });
});

it.skipIf(!hasStrace)(
  "a settler does not put its file over what came while it was writing",
  async () => {
    const state = opened();
    await add(state.project(), "first");
    const slow = ["-f", "-qq", "-o", "/dev/null", "-e", "inject=fsync:delay_enter=2000000:when=1", process.execPath];
    const args = [resolve("bin/nexus.js"), "call", "task_add", JSON.stringify({ title: "slow", context: "c" })];
    const child = spawn("strace", [...slow, ...args], {
      cwd: state.folder,
      env: { ...process.env, NEXUS_PROJECT_DIR: state.folder },
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    const folder = dirname(state.tasks);
    const writing = () => readdirSync(folder).some((name) => name.startsWith(".tasks.json"));
    for (let looks = 0; looks < 500 && !writing(); looks += 1) await sleep(10);
    expect(writing()).toBe(true);
    const foreign = { goal: "", decisions: [], tasks: [{ id: 41, title: "theirs", context: "c", status: "pending" }] };
    writeFileSync(`${state.tasks}.new`, JSON.stringify(foreign));
    renameSync(`${state.tasks}.new`, state.tasks);
    await add(state.project(), "mine");
    expect(await ended).toEqual([0, null]);
    expect(state.titles()).toEqual(["mine", "slow", "theirs"]);
  },
  30_000,
);

function identityWithoutChange(path: string): string {
  const { dev, ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${dev}:${ino}:${size}:${mtimeNs}`;
}
