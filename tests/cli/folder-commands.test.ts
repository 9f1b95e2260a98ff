import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Prompter } from "../../src/operation.js";
import { type RunOptions, runNutshell } from "./run-nutshell.js";

let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), "nut-folder-"));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

const run = (argv: string[], options: Partial<RunOptions> = {}) => runNutshell(argv, { cwd: work, ...options });
const read = (path: string) => readFileSync(join(work, path), "utf8");
const manifestOf = (folder: string) => JSON.parse(read(`${folder}/nutshell.json`));

/** Answers questions in order; secrets are never asked for here. */
function answering(...answers: string[]): Prompter & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async text(question, { initial } = {}) {
      asked.push(question);
      return answers.shift() || (initial ?? "");
    },
    confirm: async () => true,
    secret: async () => {
      throw new Error("asked for a secret");
    },
  };
}

describe("init", () => {
  it("asks on a terminal, and the answers make a ready task", async () => {
    const ask = answering("Build it", "So that it works", "go, rest", "tests pass", "docs, too, are there", "", "Ann");
    expect(await run(["init", "task"], { ask })).toMatchObject({ code: 0, err: "" });
    expect(ask.asked).toHaveLength(7);
    expect(manifestOf("task")).toMatchObject({
      created_at: "2026-03-14T10:00:00Z",
      task: { title: "Build it", summary: "So that it works" },
      tags: { skills_required: ["go", "rest"] },
      acceptance: { checklist: ["tests pass", "docs, too, are there"] },
      publisher: { name: "Ann" },
    });
    writeFileSync(join(work, "task/context/requirements.md"), "All of it.\n");
    expect(await run(["check", "task"])).toMatchObject({ code: 0 });
  });

  it("asks with --from too, and an empty answer leaves what the template has", async () => {
    const ask = answering("Fix it", "", "go", "", "Ann");
    expect(await run(["init", "task", "--from", "bug-fix"], { ask })).toMatchObject({ code: 0, err: "" });
    expect(manifestOf("task")).toMatchObject({
      task: { title: "Fix it", summary: expect.stringContaining("say why") },
      tags: { skills_required: ["go"] },
      acceptance: { checklist: ["The reported case behaves as wanted", "What worked before still works"] },
      publisher: { name: "Ann" },
    });
    const quiet = answering();
    expect(await run(["init", "b", "--from", "bug-fix", "--yes"], { ask: quiet })).toMatchObject({ code: 0 });
    expect(quiet.asked).toEqual([]);
  });

  it("asks nothing with --yes, with --json and without a terminal", async () => {
    const ask = answering();
    expect(await run(["init", "a", "--yes"], { ask })).toMatchObject({ code: 0 });
    expect(await run(["init", "b", "--json"], { ask })).toMatchObject({ code: 0 });
    expect(await run(["init", "c"])).toMatchObject({ code: 0 });
    expect(ask.asked).toEqual([]);
    expect(JSON.parse((await run(["check", "c", "--json"])).out)).toMatchObject({ status: "draft" });
  });

  it.skipIf(spawnSync("git", ["--version"]).error !== undefined)("takes the publisher's name from git", async () => {
    execFileSync("git", ["init", "-q"], { cwd: work });
    execFileSync("git", ["config", "user.name", "Bo Git"], { cwd: work });
    await run(["init", "task", "--yes"]);
    expect(manifestOf("task").publisher.name).toBe("Bo Git");
    expect(manifestOf("task").publisher.tool).toMatch(/^nutshell /);
  });

  it("keeps what is already in the folder", async () => {
    mkdirSync(join(work, "task/context"), { recursive: true });
    writeFileSync(join(work, "task/context/requirements.md"), "mine");
    await run(["init", "task", "--yes"]);
    expect(read("task/context/requirements.md")).toBe("mine");
  });

  it("starts from a template bundle: everything but its identity", async () => {
    await run(["init", "template", "--yes"]);
    await run(["set", "bundle_type", "template", "--dir", "template"]);
    await run(["set", "task.title", "Add an endpoint", "--dir", "template"]);
    writeFileSync(join(work, "template/context/guide.md"), "Guide.");
    await run(["pack", "--dir", "template", "-o", "t.nut", "--force"]);
    expect(await run(["init", "task", "--from", "t.nut"])).toMatchObject({ code: 0 });
    const [template, task] = [manifestOf("template"), manifestOf("task")];
    expect(task).toMatchObject({ bundle_type: "request", parent_id: template.id, task: { title: "Add an endpoint" } });
    expect(task.id).not.toBe(template.id);
    expect(task.files).toBeUndefined();
    expect(read("task/context/guide.md")).toBe("Guide.");
    // Besides, the home remembers which requests were made here.
    const names = readdirSync(work).filter((name) => name !== ".local");
    expect(names.sort()).toEqual(["t.nut", "task", "template"]);
  });

  it("leaves nothing behind when a template cannot be used", async () => {
    writeFileSync(join(work, "bad.nut"), "not a bundle");
    expect(await run(["init", "new/task", "--from", "bad.nut"])).toMatchObject({ code: 2 });
    mkdirSync(join(work, "full/context"), { recursive: true });
    await run(["init", "template", "--yes"]);
    expect((await run(["init", "full", "--from", "template"])).err).toContain("never overwrites");
    expect(readdirSync(work).sort()).toEqual(["bad.nut", "full", "template"]);
    expect(readdirSync(join(work, "full"))).toEqual(["context"]);
  });
});

describe("set", () => {
  it("changes one value and not a byte more", async () => {
    mkdirSync(join(work, "task"));
    const before = `{
  "zeta": 1.0,
  "nutshell_version": "0.2.0",
  "bundle_type": "request",
  "id": "nut-1",
  "task": {
    "unknown": 12345678901234567890,
    "title": "old"
  }
}
`;
    writeFileSync(join(work, "task/nutshell.json"), before);
    expect(await run(["set", "task.title", "new", "-d", "task"])).toMatchObject({ code: 0 });
    expect(read("task/nutshell.json")).toBe(before.replace('"old"', '"new"'));
  });

  it("changes nothing when it refuses", async () => {
    await run(["init", "task", "--yes"]);
    const before = read("task/nutshell.json");
    expect(await run(["set", "task.titel", "x", "-d", "task"])).toMatchObject({ code: 2 });
    expect(read("task/nutshell.json")).toBe(before);
  });
});

describe("check", () => {
  it("judges a packed bundle and one on standard input as it does the folder", async () => {
    await run(["init", "task", "--yes"]);
    await run(["pack", "--dir", "task", "-o", "t.nut", "--force"]);
    const status = async (argv: string[], options = {}) => JSON.parse((await run(argv, options)).out).missing;
    const folder = await status(["check", "task", "--json"]);
    expect(folder.length).toBeGreaterThan(0);
    expect(await status(["check", "t.nut", "--json"])).toEqual(folder);
    expect(await status(["check", "-", "--json"], { stdin: readFileSync(join(work, "t.nut")) })).toEqual(folder);
    expect((await run(["check", "t.nut"])).out).toContain("     nutshell unpack t.nut -o t\n");
    expect((await run(["check", "t.nut", "--fix"])).err).toContain("not a packed bundle");
  });

  it("fixes pointers, spelling and stale rows, and a second time finds nothing to do", async () => {
    await run(["init", "task", "--yes"]);
    await run(["set", "context.requirements", "./context/Requirements.md", "-d", "task"]);
    await run([
      "set",
      "files.tree",
      '[{"path":"gone.txt","size":1},{"path":"notes.txt","size":1,"role":"notes"}]',
      "-d",
      "task",
    ]);
    mkdirSync(join(work, "task/tests"));
    writeFileSync(join(work, "task/notes.txt"), "n");
    writeFileSync(join(work, "task/tests/criteria.json"), '{"criteria":[]}');
    const first = JSON.parse((await run(["check", "task", "--fix", "--json"])).out);
    expect(first.fixed).toEqual([
      "context.requirements is now context/requirements.md",
      "acceptance.criteria_file is now tests/criteria.json",
      "files.tree no longer lists a file that is not here",
    ]);
    expect(manifestOf("task").files.tree).toEqual([{ path: "notes.txt", size: 1, role: "notes" }]);
    expect(JSON.parse((await run(["check", "task", "--fix", "--json"])).out).fixed).toEqual([]);
  });

  it("stops an ignore file from dropping a delivery", async () => {
    await run(["init", "task", "--yes"]);
    await run(["set", "bundle_type", "delivery", "-d", "task"]);
    writeFileSync(join(work, "task/.nutignore"), "*.log\ndelivery/\n");
    mkdirSync(join(work, "task/delivery"));
    writeFileSync(join(work, "task/delivery/result.json"), '{"status":"completed"}');
    expect((await run(["check", "task"])).out).toContain(".nutignore: leaves out delivery/");
    const { code, out } = await run(["check", "task", "--fix"]);
    expect(out).not.toContain("✗ .nutignore");
    // A delivery that brings nothing is not ready, and no agent is to start on it.
    expect(code).toBe(1);
    expect(out).toContain("says completed, but names no file");
    expect(out).toContain("before it can be handed over");
    expect(read("task/.nutignore")).toMatch(/^\*\.log\ndelivery\/\n/);
  });

  it("says what is wrong with a manifest it cannot read", async () => {
    mkdirSync(join(work, "task"));
    expect((await run(["check", "task"])).err).toContain("no manifest here");
    writeFileSync(join(work, "task/nutshell.json"), '{"id": 1');
    expect(await run(["check", "task"])).toMatchObject({ code: 2, out: "" });
  });
});

describe("schema", () => {
  it("prints the manifest's by default, others by name, and writes with -o", async () => {
    expect(JSON.parse((await run(["schema"])).out).title).toBe("Nutshell v0.2.0 manifest");
    expect((await run(["schema"])).out).toBe((await run(["schema", "manifest", "--json"])).out);
    expect(JSON.parse((await run(["schema", "criteria"])).out).properties.criteria).toBeDefined();
    expect(await run(["schema", "vault", "-o", "v.json"])).toMatchObject({ code: 0 });
    expect(JSON.parse(read("v.json")).$schema).toContain("2020-12");
    expect(await run(["schema", "nothing"])).toMatchObject({ code: 2 });
  });
});

describe("help", () => {
  it("teaches every command with an example, within 80 columns", async () => {
    for (const name of ["init", "check", "set", "diff", "schema", "split", "merge", "completion"]) {
      const { out, code } = await run([name, "--help"]);
      expect(code).toBe(0);
      expect(out, name).toContain("Examples");
      const long = out.split("\n").filter((line) => line.length > 80 && !line.startsWith("  nutshell "));
      expect(long, name).toEqual([]);
    }
  });
});
