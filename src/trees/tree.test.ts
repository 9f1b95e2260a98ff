import {
  chmodSync,
  cpSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { firstLook } from "./first-look.js";
import { hasMarkers, mergeChanges } from "./merge.js";
import { Objects } from "./objects.js";
import {
  compareTrees,
  fileChanges,
  lookAt,
  lookAtCopy,
  rememberTree,
  seeEntry,
  slowly,
  unchangedTree,
  unchangedTreeBeside,
  withChanges,
} from "./tree.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nut-tree-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (folder: string, files: Record<string, string>) => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, folder, path, ".."), { recursive: true });
    writeFileSync(join(root, folder, path), text);
  }
};
const kinds = (changes: readonly { path: string; kind: string }[]) =>
  changes.map(({ path, kind }) => `${kind} ${path}`);

describe("trees", () => {
  it("see names that are not UTF-8 where somebody may hide behind them", () => {
    put("a", { "x.txt": "1" });
    const odd = Buffer.concat([Buffer.from(join(root, "a/")), Buffer.from([0x66, 0xff])]);
    writeFileSync(odd, "hidden");
    const { entries } = lookAt(join(root, "a"), { unlock: () => false });
    expect([...entries.values()].map(({ size }) => size)).toEqual([6, 1]);
  });

  it("sees content, run bits, links and empty folders", () => {
    put("a", { "x.txt": "1", "d/y.txt": "2", "gone.txt": "3", "run.sh": "#!" });
    const before = lookAt(join(root, "a"));
    put("a", { "x.txt": "changed", "new/z.txt": "4" });
    rmSync(join(root, "a/gone.txt"));
    chmodSync(join(root, "a/run.sh"), 0o755);
    mkdirSync(join(root, "a/empty"));
    symlinkSync("x.txt", join(root, "a/link"));
    const after = lookAt(join(root, "a"), { before });
    expect(kinds(fileChanges(compareTrees(before, after)))).toEqual([
      "created empty",
      "deleted gone.txt",
      "created link",
      "created new/z.txt",
      "modified run.sh",
      "modified x.txt",
    ]);
  });

  it("counts a folder only when nothing in it changed with it", () => {
    const entry = (type: "file" | "folder") => ({ type, executable: false, size: 0, hash: "" });
    const created = (path: string, type: "file" | "folder") => ({
      path,
      kind: "created" as const,
      before: null,
      after: entry(type),
    });
    const folders = Array.from({ length: 30_000 }, (_, i) => created(`d/${i}`, "folder"));
    const files = folders.map(({ path }) => created(`${path}/f`, "file"));
    const all = [created("d", "folder"), created("d/empty", "folder"), ...folders, ...files];
    expect(fileChanges(all)).toEqual([created("d/empty", "folder"), ...files]);
  });

  it("is not fooled by a file whose size and times were set back", async () => {
    put("a", { "x.txt": "one" });
    const path = join(root, "a/x.txt");
    await new Promise((resolve) => setTimeout(resolve, 60));
    const before = lookAt(join(root, "a"));
    const old = new Date(Date.now() - 60_000);
    writeFileSync(path, "two");
    utimesSync(path, old, old);
    expect(kinds(compareTrees(before, lookAt(join(root, "a"), { before })))).toEqual(["modified x.txt"]);
  });

  it("is not fooled when the clock was set back between two looks", () => {
    put("a", { "x.txt": "one" });
    const path = join(root, "a/x.txt");
    const earlier = seeEntry(path)!;
    const ctime = () => lstatSync(path, { bigint: true }).ctimeNs;
    const first = ctime();
    while (ctime() === first) writeFileSync(path, "two");
    // As if the first look had been made later than the change.
    expect(seeEntry(path, earlier, Date.now() + 60_000)?.hash).not.toBe(earlier.hash);
  });

  it("sees where a link leads, and never what is there", () => {
    put("a", { "x.txt": "one", "y.txt": "one" });
    const link = join(root, "a/link");
    symlinkSync("x.txt", link);
    const before = lookAt(join(root, "a"));
    rmSync(link);
    symlinkSync("y.txt", link);
    expect(kinds(compareTrees(before, lookAt(join(root, "a"), { before })))).toEqual(["modified link"]);
  });

  it("applies kept changes to another folder, twice as once", () => {
    put("base", { "x.txt": "1", "d/y.txt": "2" });
    put("slot", { "x.txt": "1", "d/y.txt": "2" });
    put("main", { "x.txt": "1", "d/y.txt": "2" });
    const before = lookAt(join(root, "slot"));
    put("slot", { "x.txt": "new" });
    rmSync(join(root, "slot/d"), { recursive: true });
    put("slot", { d: "a file now" });
    symlinkSync("x.txt", join(root, "slot/l"));
    const after = lookAt(join(root, "slot"), { before });
    const changes = compareTrees(before, after);
    const objects = new Objects(join(root, "objects"), join(root, "base"));
    objects.keepChanges(join(root, "slot"), changes);
    rmSync(join(root, "slot"), { recursive: true });
    objects.apply(join(root, "main"), changes);
    objects.apply(join(root, "main"), changes);
    expect(compareTrees(lookAt(join(root, "main")), after)).toEqual([]);
    expect(compareTrees(withChanges(before, changes), after)).toEqual([]);
  });

  it("refuses to write through a link that replaced a folder", () => {
    put("base", { "d/y.txt": "2" });
    put("outside", { keep: "" });
    put("slot", { "d/y.txt": "changed" });
    const changes = compareTrees(lookAt(join(root, "base")), lookAt(join(root, "slot")));
    const objects = new Objects(join(root, "objects"), join(root, "base"));
    objects.keepChanges(join(root, "slot"), changes);
    mkdirSync(join(root, "main"));
    symlinkSync(join(root, "outside"), join(root, "main/d"));
    expect(() => objects.apply(join(root, "main"), changes)).toThrow(/behind a link/);
    expect(lookAt(join(root, "outside")).entries.size).toBe(1);
  });
});

describe("merge", () => {
  const lines = (...rows: string[]) => `${rows.join("\n")}\n`;
  const base = lines("1", "2", "3", "4", "5", "6", "7");

  async function both(ours: Record<string, string | null>, theirs: Record<string, string | null>) {
    put("base", { "a.txt": base });
    const start = lookAt(join(root, "base"));
    const objects = new Objects(join(root, "objects"), join(root, "base"));
    const side = (name: string, files: Record<string, string | null>) => {
      put(name, { "a.txt": base });
      for (const [path, text] of Object.entries(files)) {
        if (text === null) rmSync(join(root, name, path));
        else put(name, { [path]: text });
      }
      const changes = compareTrees(start, lookAt(join(root, name)));
      objects.keepChanges(join(root, name), changes);
      return changes;
    };
    const main = withChanges(start, side("ours", ours));
    const changes = side("theirs", theirs);
    const labels = { ours: "main", theirs: "task 2" };
    const merge = await mergeChanges({ changes, main, objects, scratch: root, env: process.env, labels });
    return { merge, objects };
  }
  const read = ({ merge, objects }: Awaited<ReturnType<typeof both>>, path: string) => {
    const change = merge.changes.find((entry) => entry.path === path);
    return change?.after == null ? null : objects.read(path, change.after).toString();
  };

  it("joins changes to different lines of one file", async () => {
    const result = await both(
      { "a.txt": base.replace("1", "one") },
      { "a.txt": base.replace("7", "seven"), "b.txt": "new" },
    );
    expect(result.merge.conflicts).toEqual([]);
    expect(read(result, "a.txt")).toBe(lines("one", "2", "3", "4", "5", "6", "seven"));
    expect(read(result, "b.txt")).toBe("new");
  });

  it("keeps both sides of a conflict between markers and says where it is", async () => {
    const result = await both({ "a.txt": base.replace("4", "four") }, { "a.txt": base.replace("4", "IV") });
    expect(result.merge.conflicts.map(({ path }) => path)).toEqual(["a.txt"]);
    const text = read(result, "a.txt")!;
    expect(hasMarkers(text)).toBe(true);
    expect(text).toContain("four");
    expect(text).toContain("IV");
  });

  it("keeps a folder in which the other side put something", async () => {
    put("base", { "d/x.txt": "x", "e/y.txt": "y" });
    const start = lookAt(join(root, "base"));
    const objects = new Objects(join(root, "objects"), join(root, "base"));
    put("main", { "d/x.txt": "x", "d/new.txt": "new", "e/y.txt": "y" });
    mkdirSync(join(root, "theirs"));
    const merge = await mergeChanges({
      changes: compareTrees(start, lookAt(join(root, "theirs"))),
      main: lookAt(join(root, "main")),
      objects,
      scratch: root,
      env: process.env,
      labels: { ours: "main", theirs: "task 2" },
    });
    expect(kinds(merge.changes)).toEqual(["deleted d/x.txt", "deleted e", "deleted e/y.txt"]);
    objects.apply(join(root, "main"), merge.changes);
    expect([...lookAt(join(root, "main")).entries.keys()]).toEqual(["d", "d/new.txt"]);
  });

  it("calls a deletion against a change a conflict, and equal changes none", async () => {
    const deleted = await both({ "a.txt": base.replace("1", "one") }, { "a.txt": null });
    expect(deleted.merge.conflicts).toHaveLength(1);
    expect(deleted.merge.changes).toEqual([]);
    rmSync(join(root, "ours"), { recursive: true });
    rmSync(join(root, "theirs"), { recursive: true });
    const equal = await both({ "a.txt": "same" }, { "a.txt": "same" });
    expect(equal.merge).toEqual({ changes: [], conflicts: [] });
    expect(readFileSync(join(root, "base/a.txt"), "utf8")).toBe(base);
  });
});

describe("a copy we just made", () => {
  const make = () => {
    const [from, to] = [join(root, "from"), join(root, "to")];
    mkdirSync(join(from, "in"), { recursive: true });
    writeFileSync(join(from, "in/a.txt"), "one");
    writeFileSync(join(from, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
    symlinkSync("a.txt", join(from, "in/link"));
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    return { to, start: lookAt(from) };
  };

  it("is what a look at it finds, without what did not come along", () => {
    const { to, start } = make();
    expect(compareTrees(lookAtCopy(to, start), lookAt(to))).toEqual([]);
    rmSync(join(to, "run.sh"));
    expect([...lookAtCopy(to, start, (path) => path === "in/link").entries.keys()]).toEqual(["in", "in/a.txt"]);
  });

  it.each<[string, (file: string) => void]>([
    ["written with the same size and times", (file) => writeFileSync(file, "two")],
    ["replaced by a rename", (file) => [writeFileSync(`${file}.new`, "two"), renameSync(`${file}.new`, file)]],
    ["written through another name", (file) => [linkSync(file, `${file}.2`), writeFileSync(`${file}.2`, "two")]],
    ["given another mode", (file) => chmodSync(file, 0o755)],
  ])("shows a file that was %s, when later looks build on it", async (_, change) => {
    const { to, start } = make();
    const file = join(to, "in/a.txt");
    await new Promise((resolve) => setTimeout(resolve, 60));
    const times = statSync(file);
    for (const look of [slowly(start), await firstLook(to, () => false)]) {
      rememberTree(to, { ...look, tree: lookAtCopy(to, start) });
      expect(compareTrees(start, lookAt(to))).toEqual([]);
    }
    expect(await unchangedTreeBeside(to)).toBe(unchangedTree(to));
    expect(unchangedTree(to)).not.toBeNull();
    change(file);
    utimesSync(file, times.atime, times.mtime);
    expect(compareTrees(start, lookAt(to)).map(({ path }) => path)).toContain("in/a.txt");
    expect([unchangedTree(to), await unchangedTreeBeside(to)]).toEqual([null, null]);
  });

  it("leaves out what is skipped when nothing changed, with all it holds", () => {
    const { to, start } = make();
    rememberTree(to, { ...slowly(lookAtCopy(to, start)), isAsItWas: () => true });
    expect([...lookAt(to, { skip: (path) => path === "in" }).entries.keys()]).toEqual(["run.sh"]);
  });
});
