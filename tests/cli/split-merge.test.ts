import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { contentDigest, readManifest } from "../../src/bundle/index.js";
import { runNutshell } from "./run-nutshell.js";

let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), "nut-split-"));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

const nutshell = (...argv: string[]) => runNutshell(argv, { cwd: work });
const manifest = {
  nutshell_version: "0.2.0",
  bundle_type: "request",
  id: "nut-parent",
  task: { title: "Whole", summary: "All of it." },
  mine: { kept: [1.5, "x"] },
  extensions: { tool: { on: true } },
};

function write(files: Readonly<Record<string, string>>, folder = "task"): void {
  for (const [path, text] of Object.entries({ "nutshell.json": JSON.stringify(manifest), ...files })) {
    mkdirSync(dirname(join(work, folder, path)), { recursive: true });
    writeFileSync(join(work, folder, path), text);
  }
}

const read = (path: string) => readFileSync(join(work, path), "utf8");
const parts = () => readdirSync(work).filter((name) => /^task-part-\d+$/.test(name));

describe("split and merge", () => {
  it("restores what split took apart, whatever the tree", async () => {
    const name = fc.stringMatching(/^[a-z]{1,3}$/);
    const path = fc
      .tuple(fc.constantFrom("files/", "files/a/", "files/a/b/", "files/c/", "context/", "tests/"), name)
      .map(([folder, base]) => `${folder}${base}.txt`);
    const tree = fc.dictionary(path, fc.string(), { maxKeys: 15 });
    await fc.assert(
      fc.asyncProperty(tree, fc.integer({ min: 2, max: 5 }), async (files, count) => {
        rmSync(work, { recursive: true, force: true });
        mkdirSync(work);
        write(files);
        expect(await nutshell("split", "task", "-n", String(count))).toMatchObject({ code: 0 });
        const given = new Set(
          parts().flatMap((part) => readdirSync(join(work, part), { recursive: true }) as string[]),
        );
        expect(Object.keys(files).filter((file) => !given.has(file))).toEqual([]);
        expect(await nutshell("merge", ...parts().reverse(), "-o", "back")).toMatchObject({ code: 0 });
        expect(contentDigest(join(work, "back"))).toBe(contentDigest(join(work, "task")));
      }),
      { numRuns: 25 },
    );
  });

  it("gives each part an identity, a title and what it was given", async () => {
    write({ "files/a/x.txt": "x", "files/b/y.txt": "y", "context/c.md": "c", "files/run.sh": "#!/bin/sh\n" });
    chmodSync(join(work, "task/files/run.sh"), 0o755);
    expect(await nutshell("split", "task", "--by-folder")).toMatchObject({ code: 0 });
    const first = readManifest(join(work, "task-part-1"));
    expect(first).toMatchObject({
      parent_id: "nut-parent",
      task: { title: "Whole: a (1 of 2)" },
      mine: { kept: [1.5, "x"] },
    });
    expect(first.id).not.toBe("nut-parent");
    const record = first.extensions?.split as { base: Record<string, string> };
    expect(record).toMatchObject({ parent_id: "nut-parent", part_index: 1, part_total: 2 });
    expect(Object.keys(record.base)).toEqual(["context/c.md", "files/a/x.txt", "files/run.sh"]);
    expect(existsSync(join(work, "task-part-1/files/b"))).toBe(false);
    expect(statSync(join(work, "task-part-2/files/run.sh")).mode & 0o111).toBeTruthy();
  });

  it("takes the changed copy over the untouched one, additions and deletions too", async () => {
    write({ "files/a/x.txt": "x", "files/b/y.txt": "y", "files/shared.txt": "old" });
    await nutshell("split", "task", "--by-folder");
    writeFileSync(join(work, "task-part-2/files/shared.txt"), "new");
    writeFileSync(join(work, "task-part-1/files/a/more.txt"), "more");
    rmSync(join(work, "task-part-2/files/b/y.txt"));
    expect(await nutshell("merge", "task-part-1", "task-part-2", "-o", "back")).toMatchObject({ code: 0 });
    expect(read("back/files/shared.txt")).toBe("new");
    expect(read("back/files/a/more.txt")).toBe("more");
    expect(existsSync(join(work, "back/files/b/y.txt"))).toBe(false);
    expect(readManifest(join(work, "back"))).toMatchObject({ parent_id: "nut-parent", task: { title: "Whole" } });
  });

  it("keeps both sides of a conflict and says so", async () => {
    write({ "files/a/x.txt": "x", "files/b/y.txt": "y", "files/shared.txt": "old" });
    await nutshell("split", "task", "--by-folder");
    writeFileSync(join(work, "task-part-1/files/shared.txt"), "one");
    writeFileSync(join(work, "task-part-2/files/shared.txt"), "two");
    const { code, out } = await nutshell("merge", "task-part-1", "task-part-2", "-o", "back", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(out).conflicts).toEqual([
      {
        path: "files/shared.txt",
        message: "changed differently by part 1 and part 2",
        kept: ["files/shared.txt", "files/shared.txt.part-2"],
      },
    ]);
    expect([read("back/files/shared.txt"), read("back/files/shared.txt.part-2")]).toEqual(["one", "two"]);
  });

  it("is not confused by names every object has", async () => {
    write({ "files/a/x.txt": "x", "files/b/y.txt": "y" });
    await nutshell("split", "task", "-n", "2");
    writeFileSync(join(work, "task-part-1/constructor"), "mine");
    expect(await nutshell("merge", "task-part-1", "task-part-2", "-o", "back")).toMatchObject({ code: 0, err: "" });
    expect(read("back/constructor")).toBe("mine");
    expect((await nutshell("validate", "task-part-1")).out).toBe("valid\n");
  });

  it("merges packed parts", async () => {
    write({ "files/a/x.txt": "x", "files/b/y.txt": "y" });
    await nutshell("split", "task", "-n", "2");
    await nutshell("pack", "--dir", "task-part-1", "-o", "one.nut");
    expect(await nutshell("merge", "one.nut", "task-part-2", "-o", "back")).toMatchObject({ code: 0, err: "" });
    expect(contentDigest(join(work, "back"))).toBe(contentDigest(join(work, "task")));
  });

  it("refuses a missing, a doubled and a foreign part, and leaves nothing behind", async () => {
    write({ "files/a/x.txt": "x", "files/b/y.txt": "y" });
    write({}, "other");
    await nutshell("split", "task", "-n", "2");
    const before = readdirSync(work).sort();
    expect((await nutshell("merge", "task-part-1", "-o", "back")).err).toContain("part 2 of 2 is not given");
    expect((await nutshell("merge", "task-part-1", "task-part-1", "-o", "back")).err).toContain("given twice");
    expect((await nutshell("merge", "task-part-1", "task-part-2", "other", "-o", "back")).err).toContain(
      "not a part of",
    );
    expect(await nutshell("merge", "task-part-1", "task-part-2", "-o", "task")).toMatchObject({ code: 2 });
    expect(await nutshell("split", "task", "-n", "2")).toMatchObject({ code: 2 });
    expect(readdirSync(work).sort()).toEqual(before);
    expect(await nutshell("merge", "task-part-1", "-o", "back", "--partial")).toMatchObject({ code: 0 });
  });

  it("merges deliveries into one that claims no more than its weakest part", async () => {
    write({ "files/a/x.txt": "x", "files/b/y.txt": "y" });
    await nutshell("split", "task", "-n", "2");
    for (const [part, status] of [
      ["task-part-1", "completed"],
      ["task-part-2", "partial"],
    ] as const) {
      await nutshell("set", "bundle_type", "delivery", "--dir", part);
      mkdirSync(join(work, part, "delivery/logs"), { recursive: true });
      writeFileSync(join(work, part, "delivery/logs/run.log"), part);
      const item = { item: "works", status: status === "completed" ? "passed" : "failed" };
      writeFileSync(
        join(work, part, "delivery/result.json"),
        JSON.stringify({ status, acceptance_results: { tests_passed: 1, checklist: [item] } }),
      );
    }
    expect(await nutshell("merge", "task-part-1", "task-part-2", "-o", "back")).toMatchObject({ code: 0 });
    expect(readManifest(join(work, "back"))).toMatchObject({
      bundle_type: "delivery",
      request_id: "nut-parent",
      status: "partial",
    });
    expect(JSON.parse(read("back/delivery/result.json"))).toMatchObject({
      status: "partial",
      acceptance_results: { tests_passed: 2, checklist: [{ item: "works", status: "failed" }] },
    });
    expect(readdirSync(join(work, "back/delivery/logs")).sort()).toEqual(["run.log", "run.log.part-2"]);
  });

  it("says how a plan is wrong", async () => {
    write({ "files/a/x.txt": "x" });
    writeFileSync(join(work, "plan.json"), '{"parts":[{"files":["files/nowhere/"]}]}');
    expect((await nutshell("split", "task", "--plan", "plan.json")).err).toContain(
      "files/nowhere/, which is not in the task",
    );
    expect((await nutshell("split", "task")).err).toContain("-n <n>, --by-folder or --plan <file>");
  });
});
