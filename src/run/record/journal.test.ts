import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NutError } from "../../errors.js";
import type { JournalRecord } from "../../schema/journal.js";
import { Journal, JournalFollower, readJournal } from "./journal.js";
import { lineOf } from "./journal-reader.js";

const at = "2026-01-01T00:00:00Z";
const digest = `sha256:${"0".repeat(64)}`;
const task = { id: 1, title: "t", context: "c", deps: [], owner: "engineer", kind: "work" } as const;
const plan = { source: "default", goal: "g", decisions: [], issues: [], tasks: [task] } as const;
const created: JournalRecord = { at, type: "created", version: 3, run: "r" };
const opened: JournalRecord = { at, type: "opened", digest, base: digest };
const planned: JournalRecord = { at, type: "planned", plan };
const issue = (message: string): JournalRecord => ({ at, type: "issue", message });

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-journal-"));
  path = join(folder, "journal.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(...records: JournalRecord[]): void {
  const journal = new Journal(path);
  for (const record of records) journal.append(record);
  journal.close();
}

const types = () => readJournal(path).map(({ type }) => type);
function refusal(act: () => unknown): NutError {
  try {
    act();
  } catch (error) {
    if (error instanceof NutError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a journal [P8]", () => {
  it("goes on where it ended, in another process too", () => {
    write(created, opened);
    write(planned, issue("one"));
    expect(types()).toEqual(["created", "opened", "planned", "issue"]);
    expect(new Journal(path).state.plan?.goal).toBe("g");
  });

  it("drops a line that a crash cut and goes on after it, at every byte", () => {
    write(created, opened);
    const whole = readFileSync(path);
    for (let cut = whole.indexOf(0x0a) + 1; cut < whole.length; cut += 7) {
      writeFileSync(path, whole.subarray(0, cut));
      write(issue("after the crash"));
      expect(types()).toEqual(["created", "issue"]);
    }
  });

  it("takes nothing in that it could not read again", () => {
    const journal = new Journal(path);
    expect(() => journal.append(opened)).toThrow(/cannot be recorded now/);
    journal.append(created);
    expect(() => journal.append({ at, type: "task_failed", task: 7, problems: [] })).toThrow(/there is no task 7/);
    expect(() => journal.append({ at, type: "issue" } as never)).toThrow();
    journal.close();
    expect(types()).toEqual(["created"]);
  });

  it.each([
    ["garbage", "garbage", /line 3 is damaged: it is not JSON/],
    ["a list", "[]", /line 3 is damaged: it is not a record/],
    ["an empty line", "", /line 3 is damaged: it is not JSON/],
  ])("refuses %s by its line", (_, line, words) => {
    write(created, opened, planned);
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, [...lines.slice(0, 2), line, ...lines.slice(2)].join("\n"));
    expect(refusal(() => readJournal(path))).toMatchObject({
      code: "RUN_DAMAGED",
      message: expect.stringMatching(words),
    });
  });

  it.each([
    ["whose field is missing", { at, type: "issue" }, /line 2 is damaged: "message" is missing or wrong/],
    ["whose field has another shape", { ...opened, digest: 7 }, /line 2 is damaged: "digest" is missing or wrong/],
    ["of a kind nobody knows", { at, type: "party" }, /line 2 is damaged: "type" is missing or wrong/],
  ])("refuses a record %s, though its sum is right", (_, record, words) => {
    const first = lineOf(created, "");
    writeFileSync(path, first.line + lineOf(record as JournalRecord, first.sum).line);
    expect(refusal(() => readJournal(path))).toMatchObject({
      code: "RUN_DAMAGED",
      message: expect.stringMatching(words),
    });
  });

  it("says how to keep what was done and go back to before the damage, and the words can be pasted", () => {
    write(created, opened, planned, issue("one"), issue("two"));
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, lines.with(3, lines[3]!.replace("one", "eno")).join("\n"));
    const { message, hint, data } = refusal(() => new Journal(path));
    expect(message).toContain(
      "line 4 is damaged: it is not what was written there; the lines before it are sound: 0 tasks",
    );
    expect(hint).toContain(`sed -i.damaged '4,$d' ${path} && nexus resume`);
    expect(data).toMatchObject({ line: 4, work: join(folder, "work") });
    writeFileSync(
      path,
      lines
        .slice(0, 3)
        .map((line) => `${line}\n`)
        .join(""),
    );
    write(issue("again"));
    expect(types()).toEqual(["created", "opened", "planned", "issue"]);
  });

  it("refuses a newer version and changes nothing", () => {
    const line = `${JSON.stringify({ at, type: "created", version: 4, run: "r" })}\n`;
    writeFileSync(path, line);
    expect(refusal(() => new Journal(path))).toMatchObject({
      code: "RUN_NEWER",
      hint: expect.stringContaining("npm install"),
    });
    expect(readFileSync(path, "utf8")).toBe(line);
  });
});

describe("a journal of version 1", () => {
  const old = [{ at, type: "created", run: "r" }, opened, planned];
  const text = old.map((record) => `${JSON.stringify(record)}\n`).join("");

  it("is read as it is, and written in the current form by whoever goes on", () => {
    writeFileSync(path, text);
    expect(readJournal(path)).toEqual([created, opened, planned]);
    expect(readFileSync(path, "utf8")).toBe(text);
    write(issue("one"));
    expect(readJournal(path)).toEqual([created, opened, planned, issue("one")]);
    expect(
      readFileSync(path, "utf8")
        .split("\n")
        .slice(0, -1)
        .every((line) => line.includes('"sum":"')),
    ).toBe(true);
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it("has the old names of what an agent and the acceptance said", async () => {
    const { RUN_MIGRATIONS } = await import("../../schema/old/run.js");
    const { record, options } = RUN_MIGRATIONS[0]!;
    expect(record({ type: "accepted", results: { verdict: "passed" } })).toEqual({
      type: "accepted",
      report: { verdict: "passed" },
    });
    expect(record({ type: "agent_ended", verdicts: [1] })).toEqual({ type: "agent_ended", judgements: [1] });
    expect(record({ type: "issue", message: "m" })).toEqual({ type: "issue", message: "m" });
    expect(options({ id: "r" })).toEqual({ id: "r", version: 2 });
    const next = RUN_MIGRATIONS[1]!;
    expect(next.options({ id: "r", version: 2 })).toEqual({ id: "r", version: 3 });
    expect(next.record({ type: "created", version: 2 })).toEqual({ type: "created", version: 3 });
  });
});

describe("following a journal", () => {
  it("reads what was added, and starts over when the file is another", () => {
    const follower = new JournalFollower(path);
    expect(follower.look().createdAt).toBe("");
    write(created, opened);
    expect(follower.look().baseDigest).toBe(digest);
    write(planned, issue("one"));
    expect(follower.look().issues).toHaveLength(1);
    expect(follower.look().issues).toHaveLength(1);
    const whole = readFileSync(path);
    writeFileSync(path, "garbage\n");
    expect(() => follower.look()).toThrow(/line 1 is damaged/);
    writeFileSync(join(folder, "mended"), whole);
    renameSync(join(folder, "mended"), path);
    expect(follower.look().issues).toHaveLength(1);
  });
});
