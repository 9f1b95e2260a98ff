import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { shownName } from "./disk-names.js";
import { gitFacts } from "./git-facts.js";
import { Objects } from "./objects.js";
import { isResult } from "./result-tree.js";
import { copyFolder, Slots } from "./slots.js";
import { type Change, compareTrees, fileChanges, lookAt } from "./tree.js";

let root: string;
let slots: Slots;
let objects: Objects;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nut-slots-"));
  put("base", { "a.txt": "a", "d/b.txt": "b" });
  objects = new Objects(join(root, "objects"), join(root, "base"));
  slots = newSlots();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const newSlots = () => new Slots({ folder: join(root, "slots"), base: join(root, "base"), objects, counts: isResult });
function put(folder: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, folder, path)), { recursive: true });
    writeFileSync(join(root, folder, path), text);
  }
}
const kinds = (changes: readonly Change[]) => fileChanges(changes).map(({ path, kind }) => `${kind} ${path}`);
/** A version of the main tree in which one file is new. */
function version(path: string, text: string): Change[] {
  put("next", { [path]: text });
  const changes = compareTrees(lookAt(mkdtempSync(join(root, "none-"))), lookAt(join(root, "next")));
  objects.keepChanges(join(root, "next"), changes);
  rmSync(join(root, "next"), { recursive: true });
  return changes;
}

describe("what an agent leaves", () => {
  it("is told when it has no name in UTF-8, and the tree it lies in meets nobody", () => {
    const slot = slots.take([]);
    put("slots/slot-1", { "named.txt": "n" });
    for (const name of ["top", "d/lower"]) {
      const path = Buffer.concat([Buffer.from(join(slot.path, name)), Buffer.from([0xfc])]);
      writeFileSync(path, "lost");
    }
    expect(kinds(slots.changes(slot))).toEqual(["created named.txt"]);
    expect(slot.unnamed.map(shownName)).toEqual(["d/lower\ufffd", "top\ufffd"]);
    slots.release(slot);
    expect(existsSync(slot.path)).toBe(false);
    expect(readdirSync(slots.take([]).path).sort()).toEqual(["a.txt", "d"]);
  });

  it("is seen although it was shut", () => {
    const slot = slots.take([]);
    put("slots/slot-1", { "shut/inner/file": "s", "run.sh": "r" });
    chmodSync(join(slot.path, "shut/inner"), 0o000);
    chmodSync(join(slot.path, "shut"), 0o000);
    chmodSync(join(slot.path, "run.sh"), 0o111);
    chmodSync(join(slot.path, "a.txt"), 0o000);
    // Nothing is shut for root.
    const person = process.getuid!() === 0 ? 65_534 : process.getuid!();
    if (person === 65_534) execFileSync("chown", ["-R", String(person), root]);
    const [before, seteuid] = [process.geteuid!(), process.seteuid!];
    seteuid(person);
    try {
      expect(kinds(slots.changes(slot))).toEqual(["created run.sh", "created shut/inner/file"]);
    } finally {
      seteuid(before);
    }
    expect(readFileSync(join(slot.path, "shut/inner/file"), "utf8")).toBe("s");
    expect([lstatSync(join(slot.path, "run.sh")).mode & 0o777, slot.after!.entries.get("run.sh")!.executable]).toEqual([
      0o711,
      true,
    ]);
  });
});

describe("slots", () => {
  it("give each agent a tree of its own that holds every version so far", () => {
    const versions = [version("one.txt", "1"), version("two.txt", "2")];
    const [one, two] = [slots.take(versions), slots.take(versions.slice(0, 1))];
    expect(one.path).not.toBe(two.path);
    expect(readdirSync(one.path).sort()).toEqual(["a.txt", "d", "one.txt", "two.txt"]);
    expect(readdirSync(two.path).sort()).toEqual(["a.txt", "d", "one.txt"]);
    expect(slots.changes(one)).toEqual([]);
  });

  it("tell what the agent changed and nothing else, and take it back for the next one", () => {
    const slot = slots.take([]);
    put(`slots/${slot.name}`, { "a.txt": "changed", "new.txt": "new", "node_modules/x/i.js": "x" });
    rmSync(join(slot.path, "d"), { recursive: true });
    expect(kinds(slots.changes(slot))).toEqual(["modified a.txt", "deleted d/b.txt", "created new.txt"]);
    slots.release(slot);
    const next = slots.take([version("one.txt", "1")]);
    expect(next.path).toBe(slot.path);
    expect(compareTrees(lookAt(join(root, "base")), lookAt(next.path)).map(({ path }) => path)).toEqual(["one.txt"]);
    expect(slots.changes(next)).toEqual([]);
  });

  it("see an edit made after the last look, when they take it back", () => {
    const slot = slots.take([]);
    put(`slots/${slot.name}`, { "a.txt": "changed" });
    slots.release(slot);
    expect(readFileSync(join(slots.take([]).path, "a.txt"), "utf8")).toBe("a");
  });

  it("give up a repository whose hooks or branches were moved", () => {
    execFileSync("git", ["init", "-q", join(root, "base")]);
    const slot = slots.take([]);
    put(`slots/${slot.name}`, { ".git/hooks/post-checkout": "#!/bin/sh\n" });
    slots.release(slot);
    expect(existsSync(slot.path)).toBe(false);
    const next = slots.take([]);
    expect(existsSync(join(next.path, ".git/hooks/post-checkout"))).toBe(false);
  });

  it("adopt what a killed process left, by a name of theirs and once, and sweep the rest", () => {
    put("slots/slot-1", { "a.txt": "half done", "d/b.txt": "b" });
    put("slots/slot-2", { "a.txt": "a" });
    put("elsewhere", { "a.txt": "x" });
    const start = lookAt(join(root, "base"));
    expect(slots.adopt("../elsewhere", [], start)).toBeNull();
    expect(slots.adopt("slot-9", [], start)).toBeNull();
    const slot = slots.adopt("slot-1", [], start)!;
    expect(slots.adopt("slot-1", [], start)).toBeNull();
    expect(kinds(slots.changes(slot))).toEqual(["modified a.txt"]);
    slots.sweep();
    expect(readdirSync(join(root, "slots"))).toEqual(["slot-1"]);
    expect(slots.take([]).name).not.toBe("slot-1");
  });
});

describe("gitFacts", () => {
  const git = (path: string) => join(root, "base/.git", path);
  beforeEach(() => execFileSync("git", ["init", "-q", join(root, "base")]));
  const facts = () => gitFacts(join(root, "base"))!;

  it.each<[string, () => void]>([
    ["a hook", () => writeFileSync(git("hooks/pre-commit"), "#!/bin/sh\n", { mode: 0o755 })],
    ["the configuration", () => appendFileSync(git("config"), "[core]\n\tfsmonitor = evil\n")],
    ["attributes", () => writeFileSync(git("info/attributes"), "* filter=evil\n")],
    ["alternates", () => writeFileSync(git("objects/info/alternates"), "/elsewhere\n")],
  ])("tell when %s is changed, which git obeys", (_what, change) => {
    const before = facts();
    change();
    expect(facts().trusted).not.toBe(before.trusted);
    expect(facts().refs).toBe(before.refs);
  });

  it("tell when a branch or HEAD is moved, and nothing of a folder that is no repository", () => {
    const before = facts();
    writeFileSync(git("HEAD"), "ref: refs/heads/other\n");
    const moved = facts();
    expect(moved.refs).not.toBe(before.refs);
    writeFileSync(git("refs/heads/x"), `${"0".repeat(40)}\n`);
    expect(facts().refs).not.toBe(moved.refs);
    expect(facts().trusted).toBe(before.trusted);
    expect(gitFacts(join(root, "base/d"))).toBeNull();
  });
});

describe("a copy for an agent", () => {
  it("leaves hidden checks behind, and takes nothing away behind a link", () => {
    const outside = join(root, "outside/hidden.age");
    mkdirSync(dirname(outside), { recursive: true });
    writeFileSync(outside, "sealed");
    mkdirSync(join(root, "plain/acceptance"), { recursive: true });
    writeFileSync(join(root, "plain/acceptance/hidden.age"), "sealed");
    mkdirSync(join(root, "linked"));
    symlinkSync(dirname(outside), join(root, "linked/acceptance"));
    for (const name of ["plain", "linked"]) copyFolder(join(root, name), join(root, `${name}-copy`));
    expect(existsSync(join(root, "plain-copy/acceptance/hidden.age"))).toBe(false);
    expect(readFileSync(outside, "utf8")).toBe("sealed");
  });

  it("is as what it was copied from: modes, links as they are written, empty folders", () => {
    const from = join(root, "whole");
    mkdirSync(join(from, "closed/empty"), { recursive: true });
    writeFileSync(join(from, "closed/run.sh"), "#!/bin/sh\n");
    chmodSync(join(from, "closed/run.sh"), 0o751);
    symlinkSync("../nowhere", join(from, "closed/link"));
    chmodSync(join(from, "closed"), 0o500);
    const mask = process.umask(0o077);
    try {
      copyFolder(from, join(root, "whole-copy"));
    } finally {
      process.umask(mask);
    }
    const mode = (path: string) => lstatSync(join(root, "whole-copy", path)).mode & 0o7777;
    expect([mode("closed"), mode("closed/run.sh")]).toEqual([0o500, 0o751]);
    expect(mode("closed/empty")).toBe(lstatSync(join(from, "closed/empty")).mode & 0o7777);
    expect(readlinkSync(join(root, "whole-copy/closed/link"))).toBe("../nowhere");
    expect(readFileSync(join(root, "whole-copy/closed/run.sh"), "utf8")).toBe("#!/bin/sh\n");
  });

  it("goes over what is there already, and takes nothing but files, folders and links", () => {
    mkdirSync(join(root, "over/d"), { recursive: true });
    writeFileSync(join(root, "over/d/a"), "new");
    mkdirSync(join(root, "there/d"), { recursive: true });
    writeFileSync(join(root, "there/d/a"), "old");
    writeFileSync(join(root, "there/d/b"), "stays");
    copyFolder(join(root, "over"), join(root, "there"));
    expect(readFileSync(join(root, "there/d/a"), "utf8")).toBe("new");
    expect(readFileSync(join(root, "there/d/b"), "utf8")).toBe("stays");
    execFileSync("mkfifo", [join(root, "over/d/pipe")]);
    expect(() => copyFolder(join(root, "over"), join(root, "odd"))).toThrow(/FIFO/);
  });
});
