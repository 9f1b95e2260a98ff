import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  applyChanges,
  copyTree,
  isResult,
  listTree,
  lookAtFiles,
  rebuildTree,
  resultChanges,
  treeDigest,
  writeArtifacts,
} from "./result-tree.js";

let folder: string;
let base: string;
let result: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-tree-"));
  base = join(folder, "base");
  result = join(folder, "result");
  put(base, { "files/a.txt": "one\ntwo\n", "files/b.txt": "b\n", "files/old/c.txt": "c\n", "run.sh": "#!/bin/sh\n" });
  copyTree(base, result);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(root: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function work(): void {
  put(result, {
    "files/a.txt": "one\n2\nthree\n",
    "files/new.txt": "1\n2\n3",
    "node_modules/x/i.js": "",
    ".git/HEAD": "",
  });
  rmSync(join(result, "files/old"), { recursive: true });
  chmodSync(join(result, "run.sh"), 0o755);
  symlinkSync("a.txt", join(result, "files/link"));
}

describe("a result", () => {
  it("is what changed, with its lines, without leftovers", () => {
    work();
    expect(resultChanges(base, result)).toEqual([
      { path: "files/a.txt", kind: "modified", lines: 3, diffLines: 3 },
      { path: "files/link", kind: "created", lines: 1, diffLines: 1, link: true, target: "a.txt" },
      { path: "files/new.txt", kind: "created", lines: 3, diffLines: 3 },
      { path: "files/old/c.txt", kind: "deleted", lines: 0, diffLines: 1 },
      { path: "run.sh", kind: "modified", lines: 1, diffLines: 0 },
    ]);
  });

  it("is seen whatever the times say", () => {
    const path = join(result, "files/b.txt");
    writeFileSync(path, "B\n");
    expect(resultChanges(base, result).map((change) => change.path)).toEqual(["files/b.txt"]);
  });

  it("is the files when a file became a folder, or a folder a file", () => {
    rmSync(join(result, "files/old"), { recursive: true });
    rmSync(join(result, "files/a.txt"));
    put(result, { "files/old": "a file now\n", "files/a.txt/inside": "1\n2\n" });
    expect(resultChanges(base, result)).toEqual([
      { path: "files/a.txt", kind: "deleted", lines: 0, diffLines: 2 },
      { path: "files/a.txt/inside", kind: "created", lines: 2, diffLines: 2 },
      { path: "files/old", kind: "created", lines: 1, diffLines: 1 },
      { path: "files/old/c.txt", kind: "deleted", lines: 0, diffLines: 1 },
    ]);
  });

  it("is named by a digest anyone can compute", () => {
    rmSync(result, { recursive: true });
    put(result, { "b.txt": "b\n", "a/x.sh": "#!\n" });
    chmodSync(join(result, "a/x.sh"), 0o755);
    symlinkSync("b.txt", join(result, "l"));
    const sha = (text: string) => createHash("sha256").update(text).digest("hex");
    const rows = `x ${sha("#!\n")} a/x.sh\nf ${sha("b\n")} b.txt\nl ${sha("b.txt")} l\n`;
    expect(treeDigest(result)).toBe(`sha256:${sha(rows)}`);
  });

  it("comes back from its base and a delivery, digest for digest", () => {
    work();
    const changes = resultChanges(base, result);
    const delivery = join(folder, "delivery");
    writeArtifacts(result, delivery, changes);
    expect([...listTree(join(delivery, "delivery/artifacts")).keys()]).toEqual([
      "files/a.txt",
      "files/new.txt",
      "run.sh",
    ]);

    const rebuilt = join(folder, "rebuilt");
    const of = (kind: string) => changes.filter((change) => change.kind === kind).map(({ path }) => path);
    rebuildTree(base, delivery, { created: of("created"), modified: of("modified"), deleted: of("deleted") }, rebuilt);
    // Links are told by name; everything else is as it was, but for the folder a deletion left empty.
    rmSync(join(result, "files/link"));
    expect(resultChanges(result, rebuilt)).toMatchObject([{ path: "files/old", folder: true }]);
    expect(resultChanges(base, rebuilt)).toEqual(resultChanges(base, result));
    expect(treeDigest(rebuilt, isResult)).toBe(treeDigest(result, isResult));
    expect(treeDigest(rebuilt, isResult)).not.toBe(treeDigest(base, isResult));
  });

  it("understands deliveries that leave out the request's files/ folder", () => {
    const delivery = join(folder, "delivery");
    put(delivery, { "delivery/artifacts/a.txt": "changed\n", "delivery/artifacts/n.txt": "new\n" });
    const rebuilt = join(folder, "rebuilt");
    const delivered = {
      created: ["delivery/artifacts/n.txt"],
      modified: ["delivery/artifacts/a.txt"],
      deleted: ["b.txt"],
    };
    rebuildTree(base, delivery, delivered, rebuilt);
    expect(readFileSync(join(rebuilt, "files/a.txt"), "utf8")).toBe("changed\n");
    expect([existsSync(join(rebuilt, "files/n.txt")), existsSync(join(rebuilt, "files/b.txt"))]).toEqual([true, false]);
  });
});

describe("links inside the tree and empty folders", () => {
  const rebuilt = () => join(folder, "rebuilt");
  const back = (links: { path: string; target: string }[], folders: string[] = []) =>
    rebuildTree(base, join(folder, "delivery"), { created: [], modified: [], deleted: [], links, folders }, rebuilt());

  it("are part of a result and come back from what a delivery names", () => {
    mkdirSync(join(result, "files/spool/in"), { recursive: true });
    symlinkSync("a.txt", join(result, "files/link"));
    symlinkSync("../run.sh", join(result, "files/up"));
    expect(resultChanges(base, result)).toEqual([
      { path: "files/link", kind: "created", lines: 1, diffLines: 1, link: true, target: "a.txt" },
      { path: "files/up", kind: "created", lines: 1, diffLines: 1, link: true, target: "../run.sh" },
      { path: "files/spool/in", kind: "created", lines: 0, diffLines: 0, folder: true },
    ]);
    back(
      [
        { path: "files/link", target: "a.txt" },
        { path: "files/up", target: "../run.sh" },
      ],
      ["files/spool/in"],
    );
    expect(resultChanges(result, rebuilt())).toEqual([]);
    expect(resultChanges(rebuilt(), result)).toEqual([]);
  });

  it.each([
    "/etc/passwd",
    "../../etc",
    "old/../../../etc",
    "old/../a.txt",
    "../.git/config",
    "../node_modules/x",
    "a//b",
  ])("are left out, and refused in a delivery, when they lead to %j", (target) => {
    symlinkSync(target, join(result, "files/link"));
    expect(resultChanges(base, result)).toMatchObject([{ path: "files/link", link: true }]);
    expect(resultChanges(base, result)[0]).not.toHaveProperty("target");
    expect(() => back([{ path: "files/link", target }])).toThrow(/leads out of the result/);
  });

  it("are put nowhere but in the tree, and through no other link", () => {
    put(folder, { "outside/x": "kept" });
    symlinkSync(join(folder, "outside"), join(base, "door"));
    expect(() => back([{ path: "../x", target: "a" }])).toThrow(/leaves the result/);
    rmSync(rebuilt(), { recursive: true });
    expect(() => back([], ["../x"])).toThrow(/leaves the result/);
    rmSync(rebuilt(), { recursive: true });
    back([{ path: "door/x", target: "y" }], ["door/in"]);
    expect([readFileSync(join(folder, "outside/x"), "utf8"), existsSync(join(folder, "outside/in"))]).toEqual([
      "kept",
      false,
    ]);
  });
});

describe("an odd result", () => {
  it("with a name that is no UTF-8 is refused in a sentence", () => {
    writeFileSync(Buffer.from(`${result}/files/caf\xe9`, "latin1"), "x");
    expect(() => resultChanges(base, result)).toThrow(/is not UTF-8/);
    expect(() => listTree(result)).toThrow(/is not UTF-8/);
    writeFileSync(join(base, "files/\uFFFD"), "a name of its own");
    expect(resultChanges(base, base)).toEqual([]);
  });

  it("with a large file is looked at piece by piece", () => {
    const bytes = Buffer.alloc(9 * 1024 * 1024, "abc");
    writeFileSync(join(result, "files/large"), bytes);
    expect(lookAtFiles(result).entries.get("files/large")).toMatchObject({
      size: bytes.length,
      hash: createHash("sha256").update(bytes).digest("hex"),
    });
  });

  it("that is too deep to be looked at is refused", () => {
    const name = "x".repeat(200);
    const before = process.cwd();
    try {
      process.chdir(result);
      for (let depth = 0; depth < 24; depth += 1) {
        mkdirSync(name);
        process.chdir(name);
      }
    } finally {
      process.chdir(before);
    }
    expect(() => resultChanges(base, result)).toThrow(/ENAMETOOLONG/);
    execFileSync("rm", ["-rf", result]);
  });
});

describe("a hostile result", () => {
  const change = (path: string, kind: "modified" | "deleted") => ({ path, kind, lines: 0, diffLines: 0 });

  it("never writes or deletes through a link", () => {
    const outside = join(folder, "outside");
    put(outside, { "kept.txt": "kept" });
    symlinkSync(outside, join(result, "door"));
    put(base, { evil: "evil" });
    applyChanges(result, [change("door/kept.txt", "deleted")], (path) => path);
    expect(readFileSync(join(outside, "kept.txt"), "utf8")).toBe("kept");
    applyChanges(result, [change("door/kept.txt", "modified")], () => join(base, "evil"));
    expect(readFileSync(join(outside, "kept.txt"), "utf8")).toBe("kept");
    expect(readFileSync(join(result, "door/kept.txt"), "utf8")).toBe("evil");
  });

  it.each(["../x", "/x", "a/../../x", "", "a//b", "a\0b"])("is refused when it names %j", (path) => {
    expect(() => applyChanges(result, [change(path, "deleted")], (name) => name)).toThrow(/leaves the result/);
  });
});
