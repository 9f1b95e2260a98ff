// A layer tells the same of an agent as a copy does, whatever the agent tried.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canLayer, inOverlay } from "../process/index.js";
import { Objects } from "./objects.js";
import { type Slot, Slots, slotGitFacts } from "./slots.js";
import { type Change, lookAt } from "./tree.js";

let root: string;
let base: string;
const works = (() => {
  root = mkdtempSync(join(tmpdir(), "nut-layers-"));
  return canLayer(root);
})();

beforeAll(() => {
  base = join(root, "base");
  for (const folder of ["src/deep", "docs", ".git/hooks", "node_modules/x"])
    mkdirSync(join(base, folder), { recursive: true });
  const files = { "src/a.js": "one\n", "src/deep/b.js": "two\n", "docs/c.md": "three\n", "run.sh": "true\n" };
  for (const [path, text] of Object.entries({
    ...files,
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/config": "[core]\n",
  }))
    writeFileSync(join(base, path), text);
  symlinkSync("run.sh", join(base, "link"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const counts = (path: string) => !path.split("/").some((part) => part === ".git" || part === "node_modules");

const over = (layered: boolean) => (layered ? { layersOver: lookAt(base, { skip: (path) => !counts(path) }) } : {});

let places = 0;
function slotsOf(layered: boolean): { slots: Slots; objects: Objects; folder: string } {
  places += 1;
  const folder = join(root, `place-${places}`);
  const objects = new Objects(join(folder, "objects"), base);
  return {
    slots: new Slots({ folder: join(folder, "slots"), base, objects, counts, ...over(layered) }),
    objects,
    folder,
  };
}

/** As an agent would, in its tree. */
const work = ({ path, over }: Slot, script: string) =>
  over === null
    ? execFileSync("/bin/sh", ["-c", script], { cwd: path })
    : inOverlay({ base: over, changes: path }, script);

const told = (changes: readonly Change[]) =>
  changes.map(({ path, kind, after }) => [kind, path, after?.type, after?.executable, after?.hash]);

const TRICKS: readonly [name: string, script: string][] = [
  ["nothing", "true"],
  ["a new file", "echo new > src/new.js"],
  [
    "the same size and times",
    "touch -r src/a.js /tmp/.ref-$$; printf 'eno\\n' > src/a.js; touch -r /tmp/.ref-$$ src/a.js; rm /tmp/.ref-$$",
  ],
  ["a time long ago", "echo x >> src/a.js; touch -d 2001-01-01 src/a.js"],
  ["a rename over another", "mv src/a.js docs/c.md"],
  ["a rename of a folder", "cp -R src moved; rm -rf src"],
  ["a second name in the tree", "ln src/a.js hard; echo more >> hard"],
  ["the same inode with other bytes", "cat docs/c.md > src/a.js"],
  ["bytes through a mapped file", "printf X | dd of=src/a.js bs=1 seek=1 conv=notrunc 2>/dev/null"],
  ["a run bit", "chmod +x run.sh"],
  ["a folder that goes and comes back empty", "rm -rf src; mkdir src"],
  ["a folder that comes back with less", "rm -rf src; mkdir src; echo one > src/a.js"],
  ["a file where a folder was", "rm -rf src; echo file > src"],
  ["a folder where a file was", "rm run.sh; mkdir run.sh; echo in > run.sh/x"],
  ["a link where a folder was", "rm -rf src; ln -s docs src"],
  ["a link that leads elsewhere", "ln -sfn /etc/hostname link"],
  ["an empty folder", "mkdir -p made/inside"],
  ["everything gone", "rm -rf src docs run.sh link"],
  ["a file that was changed and changed back", "cp src/a.js x; echo y > src/a.js; cat x > src/a.js; rm x"],
  [
    "leftovers that do not count",
    "mkdir -p node_modules/y; echo z > node_modules/y/z; echo w > src/w.pyc; rm src/w.pyc",
  ],
  ["a folder that is renamed", "mv src moved"],
  ["a folder below one that came back", "rm -rf src; mkdir -p src/in/deep; echo q > src/in/deep/b.js"],
  ["a folder that went twice", "rm -rf docs; echo f > docs; rm docs; mkdir docs; echo n > docs/new"],
  ["a deep file alone that is gone", "rm src/deep/b.js"],
  [
    "a deep folder that became a file and a folder again",
    "rm -rf src/deep; echo f > src/deep; rm src/deep; mkdir src/deep",
  ],
  ["a folder that nobody may enter", "rm src/deep/b.js; chmod 000 src/deep"],
  ["names that are odd", "touch 'a\nb' ' c' \"d'e\" -- '-f'"],
];

describe.skipIf(!works)("a layer over the base (needs overlays)", () => {
  it("says that it cannot be put together where its layer is gone", () => {
    const tree = { base: join(root, "gone"), changes: join(root, "nowhere/changes") };
    expect(() => inOverlay(tree, "true")).toThrow(expect.objectContaining({ code: "SANDBOX_MISSING" }));
  });

  it.each(TRICKS)("tells of %s what a copy tells, and so does the next that is made from it", (_, script) => {
    const [copies, layers] = [slotsOf(false), slotsOf(true)];
    const [copy, layer] = [copies.slots.take([]), layers.slots.take([])];
    work(copy, script);
    work(layer, script);
    const [expected, changes] = [copies.slots.changes(copy), layers.slots.changes(layer)];
    expect(told(changes)).toEqual(told(expected));
    layers.objects.keepChanges(layer.path, changes);
    layers.slots.release(layer);
    expect(readdirSync(join(layers.folder, "slots"))).toEqual([]);
    const next = layers.slots.take([changes]);
    expect(layers.slots.changes(next)).toEqual([]);
    expect(work(next, "find . -name .git -prune -o -name node_modules -prune -o -print | sort").toString()).toBe(
      work(copy, "find . -name .git -prune -o -name node_modules -prune -o -print | sort").toString(),
    );
    expect(readFileSync(join(base, "src/a.js"), "utf8")).toBe("one\n");
  });

  it("says what was deleted, and is taken up again as it was left", () => {
    const { slots, folder } = slotsOf(true);
    const slot = slots.take([]);
    work(slot, "rm -rf src; echo x > docs/new.md");
    expect(slots.deleted(slot)).toEqual(["src/a.js", "src/deep/b.js"]);
    const later = new Slots({
      folder: join(folder, "slots"),
      base,
      objects: new Objects(folder, base),
      counts,
      ...over(true),
    });
    const adopted = later.adopt(slot.name, [], slot.base)!;
    expect(told(later.changes(adopted))).toEqual(told(slots.changes(slot)));
    later.sweep();
    expect(readdirSync(join(folder, "slots"))).toContain(slot.name);
    // Whoever works on copies cannot take up a layer, nor the other way round.
    const copies = new Slots({ folder: join(folder, "slots"), base, objects: new Objects(folder, base), counts });
    expect(copies.adopt(slot.name, [], slot.base)).toBeNull();
  });

  it.each([
    ["a hook", "echo evil > .git/hooks/post-checkout", "trusted"],
    ["a setting", "echo evil >> .git/config", "trusted"],
    ["a moved branch", "echo other > .git/HEAD", "refs"],
    ["a .git of its own", "rm -rf .git; mkdir .git; echo x > .git/config", "trusted"],
  ] as const)("sees %s in git's own files", (_, script, fact) => {
    const { slots } = slotsOf(true);
    const slot = slots.take([]);
    expect(slotGitFacts(slot)).toEqual(slot.git);
    work(slot, "echo x > .git/index");
    expect(slotGitFacts(slot)).toEqual(slot.git);
    work(slot, script);
    expect(slotGitFacts(slot)?.[fact]).not.toBe(slot.git?.[fact]);
    work(slot, "rm -rf .git");
    expect(slotGitFacts(slot)).toBeNull();
  });
});
