import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Objects } from "./objects.js";
import { type Change, compareTrees, lookAt, seeEntry } from "./tree.js";

let root: string;
let objects: Objects;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nut-objects-"));
  mkdirSync(join(root, "base"));
  mkdirSync(join(root, "main"));
  objects = new Objects(join(root, "objects"), join(root, "base"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
/** What turns the first folder into the second. */
const changes = (from: string, to: string) => compareTrees(lookAt(join(root, from)), lookAt(join(root, to)));

describe("apply", () => {
  const deletion = (path: string, type: "file" | "folder" = "file"): Change => ({
    path,
    kind: "deleted",
    before: { type, executable: false, size: 0, hash: "" },
    after: null,
  });

  it("deletes nothing behind a link", () => {
    put({ "outside/kept.txt": "kept", "outside/deep/kept.txt": "kept" });
    symlinkSync(join(root, "outside"), join(root, "main/door"));
    objects.apply(join(root, "main"), [deletion("door/kept.txt"), deletion("door/deep", "folder")]);
    expect(lookAt(join(root, "outside")).entries.size).toBe(3);
  });

  it("writes nothing behind a link, at any depth, and says where it is", () => {
    put({ "slot/door/deep/x.txt": "evil", "outside/here": "" });
    mkdirSync(join(root, "outside/deep"));
    const wanted = changes("base", "slot");
    objects.keepChanges(join(root, "slot"), wanted);
    symlinkSync(join(root, "outside"), join(root, "main/door"));
    const onlyFile = wanted.filter(({ after }) => after?.type === "file");
    expect(() => objects.apply(join(root, "main"), onlyFile)).toThrow(
      expect.objectContaining({ code: "RUN_TREE_MOVED" }),
    );
    expect(readdirSync(join(root, "outside/deep"))).toEqual([]);
  });

  it("puts run bits, links and other kinds in place of what was there", () => {
    put({ "main/was-folder/x": "", "main/was-file": "", "main/was-link-target": "target" });
    symlinkSync("was-link-target", join(root, "main/was-link"));
    put({ "slot/was-folder": "file now", "slot/was-file/y": "y", "slot/was-link": "plain", "slot/run.sh": "#!" });
    chmodSync(join(root, "slot/run.sh"), 0o755);
    symlinkSync("run.sh", join(root, "slot/link"));
    const wanted = changes("main", "slot");
    objects.keepChanges(join(root, "slot"), wanted);
    objects.apply(join(root, "main"), wanted);
    expect(changes("main", "slot")).toEqual([]);
    expect(statSync(join(root, "main/run.sh")).mode & 0o777).toBe(0o755);
    expect(statSync(join(root, "main/was-link")).mode & 0o777).toBe(0o644);
  });

  it("takes what never changed from the base", () => {
    put({ "base/a.txt": "from the base" });
    objects.apply(join(root, "main"), changes("main", "base"));
    expect(readFileSync(join(root, "main/a.txt"), "utf8")).toBe("from the base");
  });
});

describe("keep", () => {
  it("refuses bytes that are no longer what was seen, and keeps none of them", () => {
    put({ "slot/x.txt": "one" });
    const entry = seeEntry(join(root, "slot/x.txt"))!;
    put({ "slot/x.txt": "two" });
    expect(() => objects.keep(join(root, "slot/x.txt"), entry)).toThrow(
      expect.objectContaining({ code: "RUN_TREE_MOVED" }),
    );
    expect(readdirSync(join(root, "objects"))).toEqual([]);
    expect(objects.has(entry.hash)).toBe(false);
  });

  it("keeps the target of a link, and does not follow it", () => {
    put({ "outside/secret": "secret" });
    mkdirSync(join(root, "slot"));
    symlinkSync(join(root, "outside/secret"), join(root, "slot/l"));
    const wanted = changes("base", "slot");
    objects.keepChanges(join(root, "slot"), wanted);
    const kept = readdirSync(join(root, "objects")).map((name) => readFileSync(join(root, "objects", name), "utf8"));
    expect(kept).toEqual([join(root, "outside/secret")]);
    expect(existsSync(join(root, "objects", wanted[0]!.after!.hash))).toBe(true);
  });
});
