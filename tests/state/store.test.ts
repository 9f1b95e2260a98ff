import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openProject } from "../../src/state/index.js";
import { call, freshProject, nexus } from "./nexus.js";

const PLAN = { topic: "t", issues: ["a", "b"], research_summary: "r" };
const FILES = { plan: ".nexus/state/plan.json", tasks: ".nexus/state/tasks.json", history: ".nexus/history.json" };

/** A project with a plan, two tasks and one closed cycle. */
async function lived(): Promise<string> {
  const project = freshProject();
  await call(project, "task_add", { title: "old", context: "c" });
  await call(project, "task_close");
  await call(project, "plan_start", PLAN);
  await call(project, "task_add", { title: "één", context: "c", goal: "g" });
  await call(project, "task_add", { title: "two", context: "c", deps: [1] });
  return project;
}

/** Which tools change which file, with arguments that would succeed. */
const WRITERS: Record<keyof typeof FILES, [string, unknown][]> = {
  plan: [
    ["plan_decide", { issue_id: 1, decision: "d" }],
    ["plan_update", { action: "add", title: "x" }],
    ["plan_start", PLAN],
    ["task_close", {}],
  ],
  tasks: [
    ["task_add", { title: "t", context: "c" }],
    ["task_update", { id: 1, status: "completed" }],
    ["task_close", {}],
  ],
  history: [
    ["plan_start", PLAN],
    ["task_close", {}],
  ],
};
const READERS = { plan: "plan_status", tasks: "task_list", history: "history_search" };

/** The long form (npm run torture) tries every byte. */
const EVERY = Number(process.env.NEXUS_TORTURE_STEP ?? 4);

describe("nexus task close", () => {
  it("files nothing when nothing is open", async () => {
    const project = freshProject();
    expect(await nexus(project, ["task", "close"])).toMatchObject({
      code: 0,
      out: "nothing is open, so nothing was filed\n",
    });
    expect(await call(project, "task_close")).toMatchObject({ closed: true, total_cycles: 0, deleted: [] });
    expect(existsSync(join(project, FILES.history))).toBe(false);
    await call(project, "task_add", { title: "t", context: "c" });
    await call(project, "task_close");
    await call(project, "task_close");
    expect(JSON.parse(readFileSync(join(project, FILES.history), "utf8")).cycles).toHaveLength(1);
  });
});

describe("nexus call", () => {
  it("shows with --help what a tool takes", async () => {
    const { out } = await nexus(freshProject(), ["call", "nx_task_update", "--help"]);
    expect(out).toContain(
      "What nx_task_update takes\n  id      whole number; needed\n  status  pending, in_progress, completed; needed\n",
    );
  });
});

describe("a damaged file", () => {
  it.each(Object.keys(FILES) as (keyof typeof FILES)[])(
    "is kept and reported at every truncation: %s",
    async (name) => {
      const project = await lived();
      const path = join(project, FILES[name]);
      const whole = readFileSync(path);
      const others = Object.values(FILES).filter((other) => other !== FILES[name]);
      const before = others.map((other) => readFileSync(join(project, other)));
      for (let length = 0; length < whole.toString("utf8").trimEnd().length; length += EVERY) {
        const cut = whole.subarray(0, length);
        writeFileSync(path, cut);
        const [tool, params] = WRITERS[name][length % WRITERS[name].length]!;
        const wrote = await nexus(project, ["call", tool, JSON.stringify(params), "--json"]);
        expect(wrote.code, `${tool} at ${length}`).toBe(2);
        const { error } = JSON.parse(wrote.err.split("\n")[0]!);
        expect(error.code).toBe("STATE_DAMAGED");
        expect(readFileSync(error.data.copy)).toEqual(cut);
        expect(readFileSync(path)).toEqual(cut);
        expect((await nexus(project, ["call", READERS[name]])).code).toBe(2);
      }
      expect(others.map((other) => readFileSync(join(project, other)))).toEqual(before);
      writeFileSync(path, whole);
      expect((await nexus(project, ["call", READERS[name]])).code).toBe(0);
    },
  );

  it.each([
    ["a byte order mark", "\ufeff{}"],
    ["merge markers", '<<<<<<< ours\n{"goal":"","decisions":[],"tasks":[]}\n=======\n{}\n>>>>>>> theirs\n'],
    ["another shape", '{"tasks":{}}'],
    ["a list", "[]"],
    [
      "a task twice",
      '{"goal":"","decisions":[],"tasks":[{"id":1,"title":"a","status":"pending"},{"id":1,"title":"b","status":"pending"}]}',
    ],
    ["an unknown status", '{"goal":"","decisions":[],"tasks":[{"id":1,"title":"a","status":"blocked"}]}'],
    ["broken UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])("with %s is refused and not touched", async (_, content) => {
    const project = freshProject();
    const path = join(project, FILES.tasks);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    const bytes = readFileSync(path);
    const { code, err } = await nexus(project, ["call", "task_add", '{"title":"t","context":"c"}']);
    expect(code).toBe(2);
    expect(err).toContain("nothing was changed");
    expect(readFileSync(path)).toEqual(bytes);
    expect(JSON.parse((await nexus(project, ["status", "--json"])).out).problems).toMatchObject([
      { code: "STATE_DAMAGED" },
    ]);
  });

  it("may be a folder, a link or a pipe: each is refused at once", async () => {
    for (const make of [
      (path: string) => mkdirSync(path),
      (path: string) => symlinkSync("/etc/hostname", path),
      (path: string) => execFileSync("mkfifo", [path]),
    ]) {
      const project = freshProject();
      const path = join(project, FILES.tasks);
      mkdirSync(dirname(path), { recursive: true });
      make(path);
      const { code, err } = await nexus(project, ["call", "task_add", '{"title":"t","context":"c"}']);
      expect(code).toBe(2);
      expect(err).toContain("is not a regular file");
      expect((await nexus(project, ["call", "task_list"])).code).toBe(2);
      expect((await call(project, "context")).activeMode).toBe(null);
    }
  });
});

describe("a file of a newer version", () => {
  it.each(Object.keys(FILES) as (keyof typeof FILES)[])("is read, and not one byte of it changed: %s", async (name) => {
    const project = await lived();
    const path = join(project, FILES[name]);
    const newer = { ...JSON.parse(readFileSync(path, "utf8")), schema_version: "1.0", shiny: [1] };
    writeFileSync(path, JSON.stringify(newer, null, 4));
    const before = Object.values(FILES).map((file) => readFileSync(join(project, file), "utf8"));
    for (const [tool, params] of WRITERS[name]) {
      const { code, err } = await nexus(project, ["call", tool, JSON.stringify(params), "--json"]);
      expect(code).toBe(2);
      expect(JSON.parse(err.split("\n")[0]!).error.code).toBe("STATE_NEWER");
    }
    expect(Object.values(FILES).map((file) => readFileSync(join(project, file), "utf8"))).toEqual(before);
    expect((await nexus(project, ["call", READERS[name]])).code).toBe(0);
  });

  it("may be a newer minor one: its fields are kept", async () => {
    const project = await lived();
    const path = join(project, FILES.tasks);
    writeFileSync(
      path,
      JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), schema_version: "0.9", extra: { a: 1 } }),
    );
    await call(project, "task_update", { id: 1, status: "completed" });
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ schema_version: "0.9", extra: { a: 1 } });
  });
});

describe("the store", () => {
  it("writes one item a line, and leaves nothing beside its files", async () => {
    const project = await lived();
    const text = readFileSync(join(project, FILES.tasks), "utf8");
    expect(text.split("\n").filter((line) => line.startsWith('{"id":'))).toHaveLength(2);
    expect(readdirSync(join(project, ".nexus/state")).sort()).toEqual(["nutcracker", "plan.json", "tasks.json"]);
    expect(readFileSync(join(project, ".nexus/.gitignore"), "utf8")).toBe("state/\n");
  });

  it("sees what another program wrote between two calls", async () => {
    const project = await lived();
    const path = join(project, FILES.tasks);
    const file = JSON.parse(readFileSync(path, "utf8"));
    // In place, to the same length: only the times of the file tell.
    writeFileSync(path, readFileSync(path, "utf8").replace('"two"', '"TWO"'));
    expect((await call(project, "task_list")).tasks[1].title).toBe("TWO");
    writeFileSync(path, JSON.stringify({ ...file, tasks: [] }));
    expect((await call(project, "task_add", { title: "t", context: "c" })).task.id).toBe(1);
    rmSync(path);
    expect(await call(project, "task_list")).toEqual({ exists: false });
  });

  it("agrees with itself after every kind of change to a long list", async () => {
    const project = freshProject();
    for (let i = 0; i < 30; i += 1) await call(project, "task_add", { title: `t${"x".repeat(i)}€`, context: "c" });
    for (const [id, status] of [
      [1, "completed"],
      [30, "in_progress"],
      [15, "completed"],
      [15, "pending"],
    ]) {
      await call(project, "task_update", { id, status });
    }
    await call(project, "task_add", { title: "last", context: "c", goal: "new goal", decisions: ["d"] });
    const file = JSON.parse(readFileSync(join(project, FILES.tasks), "utf8"));
    expect(file.tasks.map(({ id }: { id: number }) => id)).toEqual(Array.from({ length: 31 }, (_, i) => i + 1));
    expect(
      file.tasks.map(({ status }: { status: string }) => status).filter((status: string) => status !== "pending"),
    ).toEqual(["completed", "in_progress"]);
    expect(file).toMatchObject({ goal: "new goal", decisions: ["d"] });
  });

  it("adds nothing twice when it was killed between filing and clearing", async () => {
    const project = await lived();
    const kept = ["plan", "tasks"].map(
      (name) => [join(project, FILES[name as "plan"]), readFileSync(join(project, FILES[name as "plan"]))] as const,
    );
    const first = await call(project, "task_close");
    for (const [path, bytes] of kept) writeFileSync(path, bytes);
    const second = await call(project, "task_close");
    expect(second).toEqual(first);
    for (const [path, bytes] of kept) writeFileSync(path, bytes);
    await call(project, "plan_start", PLAN);
    // The plan alone is another cycle than the plan with its tasks.
    expect(JSON.parse(readFileSync(join(project, FILES.history), "utf8")).cycles).toHaveLength(3);
  });

  it("is not begun by what is refused", async () => {
    const project = freshProject();
    const asked: [string, unknown][] = [
      ["task_update", { id: 1, status: "completed" }],
      ["plan_decide", { issue_id: 1, decision: "d" }],
      ["plan_update", { action: "add", title: "x" }],
    ];
    for (const [tool, params] of asked) {
      expect(await call(project, tool, params)).toEqual({ error: expect.stringMatching(/not found|No active/) });
      expect(readdirSync(project), tool).toEqual([]);
    }
  });

  it("sweeps what a killed writer left", async () => {
    const project = await lived();
    const left = join(project, ".nexus/state/.tasks.json.nut-tmp-999-1");
    writeFileSync(left, "half");
    const store = openProject(project, { harnessId: "other" }).store;
    await store.update(() => {});
    expect(existsSync(left)).toBe(false);
  });

  it("refuses to follow .nexus out of the project", async () => {
    const [project, elsewhere] = [freshProject(), freshProject()];
    symlinkSync(elsewhere, join(project, ".nexus"));
    const { code, err } = await nexus(project, ["call", "task_add", '{"title":"t","context":"c"}']);
    expect(code).toBe(2);
    expect(err).toContain("leaves the project");
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it("goes on when the state folder was removed under it", async () => {
    const project = await lived();
    rmSync(join(project, ".nexus/state"), { recursive: true });
    expect((await call(project, "task_add", { title: "t", context: "c" })).task.id).toBe(1);
    renameSync(join(project, ".nexus"), join(project, "moved"));
    expect((await call(project, "task_add", { title: "t", context: "c" })).task.id).toBe(1);
  });

  it("keeps several harnesses side by side", async () => {
    const project = freshProject();
    await call(project, "task_add", { title: "a", context: "c" }, { env: { NEXUS_HARNESS_ID: "nutcracker-claude" } });
    const { task } = await call(
      project,
      "task_add",
      { title: "b", context: "c" },
      { env: { NEXUS_HARNESS_ID: "nutcracker-codex" } },
    );
    expect(task.id).toBe(2);
    expect((await nexus(project, ["status"], { env: { NEXUS_HARNESS_ID: "../up" } })).code).toBe(2);
  });
});

describe("which project it is", () => {
  const here = { NEXUS_PROJECT_DIR: "" };
  const git = (cwd: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { cwd, stdio: "pipe" });

  it("is the nearest folder with .nexus, then the top of the work tree, then the folder itself", async () => {
    const top = freshProject();
    mkdirSync(join(top, "a/b/c"), { recursive: true });
    const root = async (folder: string) =>
      JSON.parse((await nexus(folder, ["status", "--json"], { env: here })).out).root;
    expect(await root(join(top, "a/b/c"))).toBe(join(top, "a/b/c"));
    git(top, "init", "-q");
    expect(await root(join(top, "a/b/c"))).toBe(top);
    mkdirSync(join(top, "a/.nexus"));
    expect(await root(join(top, "a/b/c"))).toBe(join(top, "a"));
  });

  it("is shared by linked work trees, each with its own branch; a .git file alone proves nothing", async () => {
    const top = freshProject();
    git(top, "init", "-q", "-b", "main");
    git(top, "commit", "-q", "--allow-empty", "-m", "x");
    git(top, "worktree", "add", "-q", "-b", "side/branch", join(top, "trees/side"));
    await call(top, "task_add", { title: "a", context: "c" }, { env: here });
    const side = join(top, "trees/side");
    expect(await call(side, "task_list", {}, { env: here })).toMatchObject({ tasks: [{ id: 1 }] });
    const planted = freshProject();
    writeFileSync(join(planted, ".git"), `gitdir: ${join(top, ".git/worktrees/side")}\n`);
    expect(await call(planted, "task_list", {}, { env: here })).toEqual({ exists: false });
    expect((await call(side, "context", {}, { env: here })).branch).toBe("side/branch");
    expect((await call(top, "context", {}, { env: here })).branch).toBe("main");
    git(top, "checkout", "-q", "--detach");
    expect((await call(top, "context", {}, { env: here })).branch).toBe("HEAD");
  });

  it("is named in every answer", async () => {
    const project = freshProject();
    expect((await nexus(project, ["call", "task_list"])).err).toContain(`project: ${project}`);
  });
});

describe("roles", () => {
  const HOW = ["architect", "designer", "postdoc", "strategist"];
  const OTHERS = ["engineer", "writer", "researcher", "tester", "reviewer"];
  const allowed = async (role: string, tool: string, params: unknown) => {
    const project = await lived();
    const { code, err } = await nexus(project, ["call", tool, JSON.stringify(params)], { env: { NEXUS_ROLE: role } });
    expect(err.includes("is not for the role")).toBe(code === 2);
    return code === 0;
  };
  const add = { title: "t", context: "c" };
  const update = { id: 1, status: "completed" };

  it.each([...HOW, ...OTHERS, "stranger", "__proto__"])("%s may add no task and start no plan", async (role) => {
    expect(await allowed(role, "task_add", add)).toBe(false);
    expect(await allowed(role, "plan_start", PLAN)).toBe(false);
    expect(await allowed(role, "task_list", {})).toBe(true);
    expect(await allowed(role, "artifact_write", { filename: "a.md", content: "x" })).toBe(true);
  });

  it("only those who do or check may set a task's state; a stranger may not", async () => {
    for (const role of [...HOW, "stranger"]) expect(await allowed(role, "task_update", update)).toBe(false);
    for (const role of OTHERS) expect(await allowed(role, "task_update", update)).toBe(true);
    expect(await allowed("lead", "task_add", add)).toBe(true);
  });

  it("are never taken from arguments", async () => {
    const project = freshProject();
    const forged = { ...add, role: "lead", NEXUS_ROLE: "lead", env: { NEXUS_ROLE: "" } };
    const { code } = await nexus(project, ["call", "task_add", JSON.stringify(forged)], {
      env: { NEXUS_ROLE: "engineer" },
    });
    expect(code).toBe(2);
  });

  it("can be denied more by the project, and a project that cannot be read denies", async () => {
    const project = freshProject();
    mkdirSync(join(project, ".nexus"));
    writeFileSync(join(project, ".nexus/config.yml"), "capabilities:\n  engineer: [no_task_update]\n");
    await call(project, "task_add", add);
    const asked = () =>
      nexus(project, ["call", "task_update", JSON.stringify(update)], { env: { NEXUS_ROLE: "engineer" } });
    expect((await asked()).err).toContain("is not for the role");
    writeFileSync(join(project, ".nexus/config.yml"), "capabilities: [");
    expect((await asked()).code).toBe(2);
  });
});
