// A real run whose files are damaged in every way a disk, an editor or a hand can: each ends in a sentence or goes on.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { treeDigest } from "../../src/acceptance/index.js";
import { fromSystemError, NutError } from "../../src/errors.js";
import { Journal, readJournal } from "../../src/run/record/journal.js";
import { listRuns } from "../../src/run/record/list-runs.js";
import { readOptions } from "../../src/run/record/options.js";
import { copyFolder } from "../../src/trees/slots.js";
import { here } from "./here.js";
import { type Agent, helloRequest, put, scratch, sweep, type World, world } from "./scripted.js";

type Fields = Record<string, unknown>;

const plan = {
  tasks: [
    { title: "greet", files: ["files/hello.txt"], criteria: "all" },
    { title: "other", files: ["files/other.txt"] },
    { title: "check", owner: "tester", deps: [1, 2] },
  ],
};

/** A failing first try, a diagnosis, a second failure with its question and answer, a second writer, a review. */
const agent: Agent = ({ cwd, role, task, taskPrompt }, emit) => {
  emit({ type: "session", id: `${role} ${task}` });
  emit({ type: "usage", tokens: 10, costUsd: 0.1 });
  if (role === "reviewer") return "VERDICT: pass\n- [passed] 1: files/hello.txt says so";
  if (role === "engineer" && task === 2) put(cwd, { "files/other.txt": "other\n" });
  else if (role === "engineer") {
    put(cwd, { "files/hello.txt": taskPrompt.includes("ANSWER FROM") ? "hello world\n" : "helo\n" });
  }
  return "RESULT: done\nSUMMARY: ok\nDECISION: short because it is\nISSUE: none";
};

/** For the commands; in process the agent is the function above. */
const program = { driver: "command", command: "true" };

let root: string;
let w: World;
let kept: string;
let delivered: string;
/** Lines of a run that waits: two tasks merged, one to do. */
let waiting: string[];
/** Lines of the same run, delivered. */
let whole: string[];

const journal = () => w.folder.journal;
const project = () => join(root, "project");
const lines = () => readFileSync(journal(), "utf8").split("\n").slice(0, -1);
const textOf = (all: readonly string[]) => all.map((line) => `${line}\n`).join("");
const write = (all: readonly string[]) => writeFileSync(journal(), textOf(all));
const workDigest = () => treeDigest(w.folder.main);

beforeAll(async () => {
  root = scratch();
  helloRequest(root, { harness: { checkpoints: true } });
  writeFileSync(join(root, "plan.json"), JSON.stringify(plan));
  w = await world({ root, agent, options: { plan: join(root, "plan.json"), jobs: 2, ...program } });
  expect((await w.go()).paused?.reason).toBe("question");
  const controller = new AbortController();
  const interrupted: Agent = (request, emit) => {
    if (request.role !== "tester") return agent(request, emit);
    controller.abort("SIGTERM");
    return new Promise(() => {});
  };
  const answer = { answer: "retry", text: "greet the world" } as const;
  await expect(w.go(answer, { agent: interrupted, signal: controller.signal })).rejects.toThrow("interrupted");
  waiting = lines();
  kept = join(root, "kept");
  copyFolder(project(), kept);
  expect((await w.go()).delivery?.result.status).toBe("completed");
  whole = lines();
  delivered = workDigest();
});
afterAll(sweep);

/** The long form (npm run torture) takes all. */
const EVERY = process.env.NUTCRACKER_LONG === "1" ? 1 : 2;

const REPLACEMENTS: readonly unknown[] = [null, 7, "x", ["x"], {}];

/** Every field of a record, nested ones too, dropped and replaced by what it is not. */
function mutations(value: Fields): [string, Fields][] {
  return Object.entries(value).flatMap(([key, field]): [string, Fields][] => {
    const { [key]: _, ...rest } = value;
    const inner: [string, Fields][] =
      typeof field === "object" && field !== null
        ? mutations(field as Fields).map(([name, changed]) => [
            `${key}.${name}`,
            { ...value, [key]: Array.isArray(field) ? Object.values(changed) : changed },
          ])
        : [];
    return [
      [`${key} dropped`, rest],
      ...REPLACEMENTS.map((other): [string, Fields] => [
        `${key}: ${JSON.stringify(other)}`,
        { ...value, [key]: other },
      ]),
      ...inner,
    ];
  });
}

/** One line changed, in words and as the whole journal. */
function* damaged(all: readonly string[]): Generator<[string, string[]]> {
  for (const [i, line] of all.entries()) {
    const fields = JSON.parse(line) as Fields;
    for (const [name, changed] of mutations(fields)) {
      yield [`line ${i + 1}, ${fields.type}: ${name}`, all.with(i, JSON.stringify(changed))];
    }
    yield [`line ${i + 1} cut`, all.with(i, line.slice(0, line.length / 2))];
    yield [`line ${i + 1} lost`, all.toSpliced(i, 1)];
    yield [`line ${i + 1} twice`, all.toSpliced(i, 0, line)];
    const next = all[i + 1];
    if (next !== undefined) yield [`line ${i + 1} after the next`, all.with(i, next).with(i + 1, line)];
  }
}

/** The same as version 1 wrote it: no sums, no version, old names. What is wrong then is found by shape and order alone. */
function asVersion1(line: string): string {
  const { sum: _sum, version: _version, report, judgements, ...rest } = JSON.parse(line) as Fields;
  if (rest.type === "accepted") return JSON.stringify({ ...rest, results: report });
  if (rest.type === "agent_ended") return JSON.stringify({ ...rest, verdicts: judgements });
  return JSON.stringify(rest);
}

function refusal(act: () => unknown): NutError | null {
  try {
    act();
    return null;
  } catch (error) {
    // Anything else would be a crash. Asked thousands of times, so without `expect`.
    if (!(error instanceof NutError) || !/^RUN_(DAMAGED|NEWER)$/.test(error.code)) throw error;
    return error;
  }
}

describe("a damaged journal", () => {
  it("is tried on a run with nearly every kind of record", () => {
    const kinds = new Set(whole.map((line) => (JSON.parse(line) as Fields).type));
    expect(kinds.size).toBeGreaterThanOrEqual(20);
  });

  it("is found at its line, whatever was changed in it, and nothing is written", () => {
    let count = 0;
    // What is wrong, by name: an `expect` for each of thousands takes longer than what it asks about.
    const wrong: string[] = [];
    for (const [name, all] of damaged(whole)) {
      count += 1;
      write(all);
      const at = all.findIndex((line, i) => line !== whole[i]);
      const found = refusal(() => new Journal(journal()));
      // The last line lost is what a crash does.
      const isKnown =
        at < 0 ? found === null : found !== null && /: line \d+ is damaged: |newer nexus/.test(found.message);
      if (!isKnown) wrong.push(`${name}: ${found?.message ?? "not found"}`);
      if (found?.code === "RUN_DAMAGED" && found.data.line !== at + 1) wrong.push(`${name}: line ${found.data.line}`);
      if (readFileSync(journal(), "utf8") !== textOf(all)) wrong.push(`${name}: written to`);
    }
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(1_000);
  });

  it("of version 1 never makes anything crash, and what happens once is not taken twice", () => {
    const once =
      /"type":"(created|opened|agent_started|agent_ended|merging|merged|task_completed|task_failed|diagnosed|answered|closed)"/;
    const old = whole.map(asVersion1);
    write(old);
    expect(refusal(() => readJournal(journal()))).toBeNull();
    for (const [name, all] of damaged(old)) {
      write(all);
      const found = refusal(() => readJournal(journal()));
      const line = old[Number(/\d+/.exec(name)?.[0]) - 1]!;
      if (/ (cut|twice)$/.test(name) && once.test(line)) expect(found?.code, name).toBe("RUN_DAMAGED");
    }
  });

  it("of version 1 is refused before anything is touched, or goes on to an honest end", async () => {
    const old = waiting.map(asVersion1);
    const tried = new Set<string>();
    let met = 0;
    for (const [name, all] of damaged(old)) {
      // One line of each kind, one field of each, is enough; here every second of them, in the long form all.
      const kind = name.replace(/^line \d+,? ?/, "").replace(/\.\d+|: .*| dropped/g, "");
      if (tried.has(kind)) continue;
      met += 1;
      if (met % EVERY !== 0) {
        tried.add(kind);
        continue;
      }
      write(all);
      const isRefused = refusal(() => readJournal(journal())) !== null;
      if (isRefused && tried.has("a refusal")) continue;
      tried.add(isRefused ? "a refusal" : kind);
      restore();
      write(all);
      const before = workDigest();
      const outcome = await Promise.race([w.go().catch((error: unknown) => error), seconds(30)]);
      if (isRefused) {
        expect(outcome, name).toMatchObject({ code: "RUN_DAMAGED" });
        expect(workDigest(), name).toBe(before);
      } else if (outcome instanceof Error) expect(outcome, name).toBeInstanceOf(NutError);
      else {
        expect(outcome, name).toMatchObject({ status: "delivered" });
        const { status } = (outcome as Awaited<ReturnType<World["go"]>>).delivery!.result;
        // Without sums a change that fell out of a list is not missed.
        if (status === "completed" && !/changes/.test(name)) expect(workDigest(), name).toBe(delivered);
      }
    }
    expect(tried.size).toBeGreaterThan(15);
  }, 600_000);
});

function restore(): void {
  rmSync(project(), { recursive: true });
  rmSync(join(root, "delivery.nut"), { force: true });
  copyFolder(kept, project());
}

async function seconds(n: number): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, n * 1_000).unref());
  return `still running after ${n} s`;
}

describe("a damaged run.json", () => {
  it("is refused by its field, or says something else that can be run", () => {
    const options = JSON.parse(readFileSync(w.folder.options, "utf8")) as Fields;
    for (const [name, changed] of mutations(options)) {
      writeFileSync(w.folder.options, JSON.stringify(changed));
      const found = refusal(() => readOptions(w.folder));
      if (found === null)
        expect(name).toMatch(
          /^(title|request_id|driver|command|plan|id|jobs|version dropped|budget\.\w+: 7|repo|model)/,
        );
      else expect(found.message, name).toMatch(/is damaged: "[\w.]+" is (missing or wrong|no version)|newer nexus/);
    }
    for (const text of ["", "{", "[]", "null", "7"]) {
      writeFileSync(w.folder.options, text);
      expect(refusal(() => readOptions(w.folder))?.code, text).toBe("RUN_DAMAGED");
    }
    writeFileSync(w.folder.options, JSON.stringify({ ...options, version: 9 }));
    expect(refusal(() => readOptions(w.folder))?.code).toBe("RUN_NEWER");
    const { version: _, ...old } = options;
    writeFileSync(w.folder.options, JSON.stringify(old));
    expect(readOptions(w.folder)).toEqual(old);
  });
});

describe("a run.json that says something else", () => {
  it("goes on to an answer, or is refused with a sentence", async () => {
    const stored = JSON.parse(readFileSync(w.folder.options, "utf8")) as Fields;
    const tried = new Set<string>();
    restore();
    for (const [name, changed] of mutations(stored)) {
      const [field = ""] = name.split(/[ :]/);
      writeFileSync(w.folder.options, JSON.stringify(changed));
      // One accepted mutation of each field is enough.
      if (tried.has(field) || refusal(() => readOptions(w.folder)) !== null) continue;
      tried.add(field);
      if (tried.size % EVERY !== 0) continue;
      restore();
      writeFileSync(w.folder.options, JSON.stringify(changed));
      const options = readOptions(w.folder);
      const outcome = await Promise.race([w.go(null, { options }).catch((error: unknown) => error), seconds(60)]);
      if (outcome instanceof Error) expect(outcome, name).toBeInstanceOf(NutError);
      else expect(outcome, name).toMatchObject({ run: "r1", status: expect.stringMatching(/^(delivered|paused)$/) });
    }
    restore();
    expect(tried.size).toBeGreaterThan(5);
  }, 600_000);
});

describe("the commands", () => {
  it("refuse a damaged run with one sentence and exit 2, and list it as damaged", async () => {
    restore();
    write(waiting.with(4, waiting[4]!.replace('"type":', '"typo":')));
    const resumed = await here("nexus", project(), ["resume", "r1"]);
    expect(resumed.status, resumed.stderr).toBe(2);
    expect(resumed.stderr).toMatch(/error: .*journal.jsonl: line 5 is damaged/);
    expect(resumed.stderr).toMatch(/hint: .*sed -i\.damaged '5,\$d' .* && nexus resume r1/);
    expect(resumed.stderr).not.toContain("bug:");
    const listed = await here("nexus", project(), ["runs", "--json"]);
    expect(JSON.parse(listed.stdout).runs).toMatchObject([{ id: "r1", status: "damaged" }]);

    restore();
    writeFileSync(w.folder.options, "{");
    expect(await here("nexus", project(), ["resume", "r1"])).toMatchObject({ status: 2, stdout: "" });
    expect(existsSync(w.folder.main)).toBe(true);

    rmSync(w.folder.options);
    expect(listRuns(join(project(), ".nexus/state/nutcracker/runs"))).toMatchObject([{ id: "r1", status: "damaged" }]);
    expect((await here("nexus", project(), ["runs"])).stdout).toMatch(/\n {2}run\.json is damaged: it is gone\n/);
    const gone = await here("nexus", project(), ["resume", "r1"]);
    expect(gone).toMatchObject({ status: 2, stderr: expect.stringMatching(/run\.json is (?:damaged|gone)/) });
  });

  it("answer at once for what is no file, list it beside the others, and never begin anew over work that is there", async () => {
    const inPlaceOf: Record<string, (path: string) => void> = {
      folder: (path) => mkdirSync(path),
      pipe: (path) => expect(spawnSync("mkfifo", [path]).status).toBe(0),
      "an endless device": (path) => symlinkSync("/dev/zero", path),
      "a link to itself": (path) => symlinkSync(path, path),
    };
    for (const name of ["journal", "options", "lock"] as const) {
      for (const [what, put] of Object.entries(inPlaceOf)) {
        restore();
        rmSync(w.folder[name]);
        put(w.folder[name]);
        const [run] = listRuns(join(project(), ".nexus/state/nutcracker/runs"));
        if (name !== "lock") expect(run?.status, `${name}: ${what}`).toBe("damaged");
        // What a run was started with is read by the command, all else by the run itself.
        const act = name === "options" ? async () => readOptions(w.folder) : () => w.go();
        const error = await act().catch((thrown: unknown) => thrown);
        const known = error instanceof NutError ? error : fromSystemError(error);
        expect(known?.code, `${name}: ${what}`).toMatch(/^(?:RUN_DAMAGED|FILE_UNREADABLE)$/);
      }
    }
    for (const text of ["", "x", null]) {
      restore();
      if (text === null) rmSync(journal());
      else writeFileSync(journal(), text);
      await expect(w.go()).rejects.toMatchObject({
        code: "RUN_DAMAGED",
        message: expect.stringContaining("nothing is recorded there, though work was done"),
        hint: expect.stringMatching(/^cp -R \S+work saved-work keeps what was done; start afresh/),
      });
    }
    restore();
    writeFileSync(join(w.folder.request, "nutshell.json"), "{");
    await expect(w.go()).rejects.toMatchObject({
      code: "RUN_DAMAGED",
      hint: `mv ${w.folder.request} ${w.folder.request}.damaged && nexus resume r1`,
    });
    // Pasted.
    expect(spawnSync("mv", [w.folder.request, `${w.folder.request}.damaged`]).status).toBe(0);
    expect((await w.go()).delivery?.result.status).toBe("completed");
  });

  it("answer for a delivered run whose result is gone, and name the delivery", async () => {
    restore();
    await w.go();
    writeFileSync(join(w.folder.delivery, "delivery/result.json"), "{");
    await expect(w.go()).rejects.toMatchObject({
      code: "RUN_DAMAGED",
      hint: `nutshell verify ${join(root, "delivery.nut")} --request '<request>' --rerun`,
    });
  });
});
