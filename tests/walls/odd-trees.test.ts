// Trees and words made to be in the way: they are refused in a sentence, and the run goes on.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { readConstraints } from "../../src/acceptance/index.js";
import { removeFolder } from "../../src/files/index.js";
import { Objects } from "../../src/trees/objects.js";
import { type Agent, helloRequest, put, scratch, sweep, world } from "../run/scripted.js";

afterEach(sweep);

/** Folders in one another, deeper than a path can name. */
function dig(folder: string, depth: number, name: string): void {
  const script =
    "import os,sys\nos.chdir(sys.argv[1])\nfor i in range(int(sys.argv[2])):\n  os.mkdir(sys.argv[3]); os.chdir(sys.argv[3])\n";
  execFileSync("python3", ["-c", script, folder, String(depth), name]);
}

/** The long form (npm run torture) takes what Node cannot read at once. */
const LONG = process.env.NUTCRACKER_LONG === "1";

describe("an agent that leaves what nobody can carry", () => {
  it.each<[string, (cwd: string) => void, RegExp]>([
    [
      "1,500 folders in one another",
      (cwd) => dig(cwd, 1_500, "deep"),
      /deep\/deep.* lies deeper than any delivery can hold/,
    ],
    [
      LONG ? "a file of more than 2 GiB" : "a file of more than 1 GiB",
      (cwd) => {
        writeFileSync(join(cwd, "huge"), "");
        truncateSync(join(cwd, "huge"), (LONG ? 2 : 1) * 1024 ** 3 + 1);
      },
      /huge is larger than 1 GiB/,
    ],
    [
      "a name that is not UTF-8",
      (cwd) => writeFileSync(Buffer.concat([Buffer.from(join(cwd, "neu")), Buffer.from([0xfc])]), "lost"),
      /the name of neu\ufffd is not UTF-8/,
    ],
  ])(
    "%s fails that try, and the next one goes on",
    async (_, leave, problem) => {
      const root = scratch();
      let first = true;
      const agent: Agent = ({ role, cwd }) => {
        if (role === "engineer") {
          if (first) leave(cwd);
          else put(cwd, { "files/hello.txt": "hello world\n" });
          first = false;
        }
        return "VERDICT: pass\n- [passed] 1: files/hello.txt says so";
      };
      helloRequest(root);
      const w = await world({ root, agent, options: { yes: true } });
      await w.go();
      const ends = [...w.state().agents.values()].map(({ end }) => end?.problems ?? []);
      expect(ends[0]?.join()).toMatch(problem);
      expect(ends.slice(1).every((problems) => !problems.some((text) => problem.test(text)))).toBe(true);
      expect(w.state().delivered).not.toBeNull();
      expect(existsSync(w.folder.slots)).toBe(false);
    },
    120_000,
  );
});

describe("a folder somebody else filled", () => {
  it("is removed however deep and closed it is, and its links are not followed", () => {
    const root = mkdtempSync(join(tmpdir(), "nut-odd-"));
    const [folder, kept] = [join(root, "folder"), join(root, "kept")];
    for (const path of [folder, kept]) mkdirSync(path);
    writeFileSync(join(kept, "mine"), "");
    symlinkSync(kept, join(folder, "link"));
    dig(folder, 900, "folder");
    removeFolder(folder);
    expect([existsSync(folder), existsSync(join(kept, "mine"))]).toEqual([false, true]);
    rmSync(root, { recursive: true });
  });

  it("gets nothing written behind a link that stands where a folder was", () => {
    const root = mkdtempSync(join(tmpdir(), "nut-odd-"));
    const [slot, person] = [join(root, "slot"), join(root, "person")];
    for (const path of [slot, person, join(root, "base")]) mkdirSync(path);
    writeFileSync(join(person, ".bashrc"), "mine");
    symlinkSync(person, join(slot, "a"));
    const objects = new Objects(join(root, "objects"), join(root, "base"));
    const folder = { type: "folder", executable: false, size: 0, hash: "" } as const;
    const changes = [{ path: "a/.bashrc", kind: "created", before: null, after: folder } as const];
    expect(() => objects.apply(slot, changes)).toThrow(/behind a link/);
    expect(existsSync(join(person, ".bashrc"))).toBe(true);
    rmSync(root, { recursive: true });
  });
});

describe("a constraint made to keep a reader busy", () => {
  it.each([
    ["spaces", (size: number) => `do not modify \`a${" ".repeat(size)}b\``],
    ["spaces between", (size: number) => `only change${" ".repeat(size)}a.js`],
    ["marks", (size: number) => `${"!".repeat(size)}x`],
    ["words", (size: number) => `do not modify ${"the ".repeat(size / 4)}`],
  ])("of %s is read at once", (_, sentence) => {
    const started = performance.now();
    for (const size of [10_000, 60_000, 600_000]) readConstraints([sentence(size)]);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it("still means what it says with odd spaces in it", () => {
    expect(readConstraints(["Do  not\tmodify   files/src/  "]).rules).toMatchObject([
      { kind: "never", paths: ["files/src/"] },
    ]);
  });
});
