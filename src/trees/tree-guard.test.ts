import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { removeFolder } from "../files/index.js";
import { linesOf, listByFind, listByHand } from "./listing.js";
import { compareTree, keepTree } from "./tree-guard.js";

let folder: string;
let layout: { root: string; own: string; trees: string; base: string; ended: string | null };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-guard-"));
  layout = {
    root: join(folder, "project"),
    own: join(folder, "project/.nexus/state"),
    trees: join(folder, "trees"),
    base: join(folder, "base"),
    ended: null,
  };
  put({ "a.txt": "a", "d/b.txt": "b", "run.sh": "#!", "secret.env": "key" });
  chmodSync(at("run.sh"), 0o755);
  chmodSync(at("secret.env"), 0o600);
  symlinkSync("a.txt", at("link"));
  mkdirSync(at("empty"));
});
afterEach(() => removeFolder(folder));

const at = (path: string) => join(layout.root, path);
function put(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  }
}
const read = (path: string) => readFileSync(at(path), "utf8");
const mode = (path: string) => statSync(at(path)).mode & 0o777;
const compare = (options: Partial<Parameters<typeof compareTree>[2]> = {}) =>
  compareTree(layout, "tester-1", { revert: true, mine: () => true, ...options });

it("reports a file of more than 512 MB, and does not put it back", () => {
  put({ "large.bin": "" });
  truncateSync(at("large.bin"), 512 * 1024 ** 2 + 1);
  keepTree(layout, "tester-1");
  truncateSync(at("large.bin"), 512 * 1024 ** 2 + 2);
  put({ "a.txt": "changed" });
  const found = compare();
  expect(found).toMatchObject({ reverted: ["a.txt"] });
  expect(JSON.stringify(found)).toContain("large.bin");
  expect([read("a.txt"), statSync(at("large.bin")).size]).toEqual(["a", 512 * 1024 ** 2 + 2]);
});

describe("a role that may not edit [P6]", () => {
  it("leaves nothing behind: content, modes, links, folders, files of its own", () => {
    keepTree(layout, "tester-1");
    put({ "a.txt": "changed", "new/file.txt": "new", "secret.env": "stolen" });
    rmSync(at("d"), { recursive: true });
    chmodSync(at("run.sh"), 0o644);
    chmodSync(at("secret.env"), 0o644);
    rmSync(at("link"));
    symlinkSync("/etc/passwd", at("link"));
    rmSync(at("empty"), { recursive: true });
    const report = compare();
    expect(report?.reverted).toEqual(["a.txt", "d/b.txt", "empty", "link", "new/file.txt", "run.sh", "secret.env"]);
    expect(report?.changed).toEqual(report?.reverted);
    expect([read("a.txt"), read("d/b.txt"), read("secret.env")]).toEqual(["a", "b", "key"]);
    expect([mode("run.sh"), mode("secret.env"), mode("a.txt")]).toEqual([0o755, 0o600, 0o644]);
    expect(readlinkSync(at("link"))).toBe("a.txt");
    expect([existsSync(at("new")), existsSync(at("empty"))]).toEqual([false, true]);
  });

  it("finds its own version kept beside, and is told where", () => {
    keepTree(layout, "tester-1");
    put({ "a.txt": "changed", "new.txt": "new" });
    const copy = compare()?.copy;
    expect(copy).toBe(join(layout.own, "reverted/tester-1"));
    expect(readFileSync(join(copy!, "a.txt"), "utf8")).toBe("changed");
    expect(readFileSync(join(copy!, "new.txt"), "utf8")).toBe("new");
  });

  it("cannot hide an edit behind an old time and an equal size", async () => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    keepTree(layout, "tester-1");
    const old = new Date(Date.now() - 3_600_000);
    put({ "a.txt": "z" });
    utimesSync(at("a.txt"), old, old);
    expect(compare()?.reverted).toEqual(["a.txt"]);
    expect(read("a.txt")).toBe("a");
  });

  it("is told that a link in a folder's place was put back, and of nothing that was not", () => {
    keepTree(layout, "tester-1");
    rmSync(at("d"), { recursive: true });
    symlinkSync("/etc", at("d"));
    const told = compare()!;
    expect([read("d/b.txt"), told.changed.filter((path) => !told.reverted.includes(path))]).toEqual(["b", []]);
  });

  it("cannot hide an edit behind folders so deep that no call can name them, nor lose them", () => {
    // As deep as they are made one inside the other; named as one path they are too long for the system.
    const name = "q".repeat(200);
    const script = `mkdir deep && cd deep && for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do mkdir ${name} && cd -P ${name} || exit 1; done && echo bottom > f`;
    keepTree(layout, "tester-1");
    execFileSync("/bin/sh", ["-c", script], { cwd: layout.root });
    const outside = join(layout.own, "reverted/tester-1");
    put({ "a.txt": "edited", "new/file": "new" });
    const told = compare()!;
    expect([read("a.txt"), existsSync(at("deep")), existsSync(at("new"))]).toEqual(["a", false, false]);
    expect(told.reverted).toEqual(expect.arrayContaining(["a.txt", "new/file"]));
    expect(told.copy).toBe(outside);
    expect([readFileSync(join(outside, "a.txt"), "utf8"), readdirSync(join(outside, "deep"))]).toEqual([
      "edited",
      [name],
    ]);
  });

  it("cannot edit what lies so deep that its copy has no name", () => {
    const folders = Array.from({ length: 19 }, () => "q".repeat(200)).join("/");
    const path = `${folders}/${"f".repeat(3_990 - at(folders).length - 1)}`;
    put({ [path]: "right" });
    keepTree(layout, "tester-1");
    put({ [path]: "wrong" });
    const told = compare()!;
    expect([read(path), told.reverted]).toEqual(["right", [path]]);
    expect(readFileSync(join(told.copy!, ".nexus/state/0"), "utf8")).toBe("wrong");
  });

  it("does no harm outside by putting a link in the place of a folder", () => {
    keepTree(layout, "tester-1");
    const outside = join(folder, "outside");
    renameSync(at("d"), outside);
    writeFileSync(join(outside, "b.txt"), "not in the project");
    symlinkSync(outside, at("d"));
    compare();
    expect(read("d/b.txt")).toBe("b");
    expect(readFileSync(join(outside, "b.txt"), "utf8")).toBe("not in the project");
  });

  it("is only reported when nothing may be put back, or when somebody else made the change", () => {
    keepTree(layout, "tester-1");
    put({ "a.txt": "changed" });
    expect(compare({ revert: false })).toEqual({ changed: ["a.txt"], reverted: [], copy: null });
    expect(read("a.txt")).toBe("changed");
    keepTree(layout, "tester-1");
    put({ "a.txt": "theirs", "d/b.txt": "mine" });
    expect(compare({ mine: (path) => path !== "a.txt" })).toMatchObject({
      changed: ["a.txt", "d/b.txt"],
      reverted: ["d/b.txt"],
    });
    expect([read("a.txt"), read("d/b.txt")]).toEqual(["theirs", "b"]);
  });
});

it("leaves what somebody else has put into a folder of the agent's", () => {
  keepTree(layout, "tester-1");
  put({ "new/theirs.txt": "theirs", "new/deep/mine.txt": "mine" });
  expect(compare({ mine: (path) => path !== "new/theirs.txt" })?.reverted).toEqual(["new/deep/mine.txt"]);
  expect(read("new/theirs.txt")).toBe("theirs");
  expect(existsSync(at("new/deep"))).toBe(false);
});

describe("tricks on what the file system tells [P6]", () => {
  const git = (...args: string[]) => execFileSync("git", ["-C", layout.root, ...args], { stdio: "pipe" });
  const commit = () => {
    git("init", "-q");
    git("add", "-A");
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x");
    git("gc", "-q");
  };
  const begin = () => {
    keepTree(layout, "earlier");
    compareTree(layout, "earlier", { revert: true, mine: () => true });
    keepTree(layout, "tester-1");
  };

  it.each([
    ["in a repository", true],
    ["without one", false],
  ])("change nothing that stays: %s", (_, isRepository) => {
    if (isRepository) commit();
    begin();
    const { mtime } = statSync(at("a.txt"));
    // The same size, written in place, and the time set back.
    writeFileSync(at("a.txt"), "z");
    utimesSync(at("a.txt"), mtime, mtime);
    // Another file of the same size and time moved over it.
    writeFileSync(at("other"), "y");
    utimesSync(at("other"), statSync(at("d/b.txt")).mtime, statSync(at("d/b.txt")).mtime);
    renameSync(at("other"), at("d/b.txt"));
    // A second name, written through and taken away again.
    linkSync(at("run.sh"), join(folder, "second-name"));
    writeFileSync(join(folder, "second-name"), "!#");
    rmSync(join(folder, "second-name"));
    if (isRepository) {
      git("update-index", "--assume-unchanged", "a.txt");
      git("update-index", "--skip-worktree", "d/b.txt");
    }
    expect(compare()?.reverted).toEqual(["a.txt", "d/b.txt", "run.sh"]);
    expect([read("a.txt"), read("d/b.txt"), read("run.sh"), mode("run.sh")]).toEqual(["a", "b", "#!", 0o755]);
  });

  it("take nothing from us when the repository's own objects are gone", () => {
    commit();
    begin();
    put({ "a.txt": "changed" });
    rmSync(at(".git"), { recursive: true });
    expect(compare()?.reverted).toEqual(["a.txt"]);
    expect(read("a.txt")).toBe("a");
  });

  it("of touching and writing the same are no change", () => {
    begin();
    const old = new Date(Date.now() - 3_600_000);
    utimesSync(at("a.txt"), old, old);
    writeFileSync(at("d/b.txt"), "b");
    renameSync(at("run.sh"), at("moved"));
    renameSync(at("moved"), at("run.sh"));
    expect(compare()).toEqual({ changed: [], reverted: [], copy: null });
  });

  it("with permissions alone are put back, and names of any bytes", () => {
    const name = Buffer.concat([Buffer.from(`${layout.root}/n-`), Buffer.from([0xff, 0x0a, 0x22])]);
    writeFileSync(name, "odd");
    begin();
    chmodSync(at("secret.env"), 0o644);
    chmodSync(at("d"), 0o777);
    writeFileSync(name, "even");
    expect(compare()?.reverted).toHaveLength(3);
    expect([mode("secret.env"), mode("d"), readFileSync(name, "utf8")]).toEqual([0o600, 0o755, "odd"]);
  });

  it("say what could not be put back", () => {
    commit();
    begin();
    put({ "a.txt": "changed", "run.sh": "changed" });
    rmSync(layout.base, { recursive: true });
    expect(compare()).toEqual({ changed: ["a.txt", "run.sh"], reverted: [], copy: null });
  });
});

it("lists by hand what find lists", () => {
  writeFileSync(Buffer.concat([Buffer.from(`${layout.root}/n-`), Buffer.from([0xff, 0x0a])]), "odd");
  put({ "skip/x": "1", "d/skip/y": "2", "d/state/z": "3", "node_modules/m": "4", "s [1]/q": "5" });
  // Two programs share the work by names of folders in the second row.
  for (const name of ["a", "b", "1", "2", "ä", "-c", "!", "(", "node_modules", "q\n", ".git"]) {
    put({ [`${name}/1/1/1`]: "1", [`${name}/2/1`]: "2", [`d/${name}/1/deep/1/x`]: "3", [`d/e/1/${name}`]: "4" });
    put({ [`d/${name}-file-1`]: "5", [`d/${name}/node_modules/1/x`]: "6", [`d/${name}/.git/1`]: "7" });
    mkdirSync(at(`${name}/nothing1/`), { recursive: true });
    symlinkSync("1", at(`${name}/link1`));
  }
  const lines = (way: typeof listByFind) => [...linesOf(way(layout.root, ["skip", "s [1]"])!)].sort();
  expect(lines(listByHand)).toEqual(lines(listByFind));
  const listing = listByFind(layout.root, ["skip", "s [1]"])!.toString("latin1");
  expect(listing.split("\0").length - 1).toBe(2 * lines(listByFind).length);
  expect(linesOf(listByFind(layout.root, ["skip", "s [1]"])!).has("d/skip/y")).toBe(true);
});

describe("the guard", () => {
  it("has nothing to say about an agent it did not see start, and forgets what it compared", () => {
    expect(compare()).toBeNull();
    keepTree(layout, "tester-1");
    expect(compare()).toEqual({ changed: [], reverted: [], copy: null });
    expect(compare()).toBeNull();
    expect(readdirSync(layout.trees)).toEqual([]);
  });

  it("looks past what programs make, and at single files git ignores", () => {
    put({ ".gitignore": "build/\n.env\n", "build/out.js": "1", ".env": "secret" });
    execFileSync("git", ["init", "-q", layout.root]);
    keepTree(layout, "tester-1");
    put({
      "build/out.js": "2",
      "node_modules/x/index.js": "x",
      "__pycache__/x.pyc": "x",
      ".nexus/state/tasks.json": "{}",
      ".git/description": "x",
      ".env": "changed",
    });
    expect(compare()?.changed).toEqual([".env"]);
    expect(read("build/out.js")).toBe("2");
  });

  it.each(["../../escape", "a/b", "", "x".repeat(300), "é\0"])("keeps to its folder for an agent called %j", (id) => {
    keepTree(layout, id);
    put({ "a.txt": "changed" });
    const report = compareTree(layout, id, { revert: true, mine: () => true });
    expect(dirname(report!.copy!)).toBe(join(layout.own, "reverted"));
    expect(readdirSync(folder)).toEqual(["base", "project", "trees"]);
  });
});
