// A stranger's input is made to cost more than it should. Bounds are wide: what they catch takes minutes.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readConstraints } from "../../src/acceptance/index.js";
import { openContent, packFolder } from "../../src/bundle/index.js";
import { parseYaml } from "../../src/catalog/yaml.js";
import { readToml } from "../../src/import/toml.js";
import { criteriaProblem } from "../../src/schema/criteria.js";
import { seeEntry } from "../../src/trees/tree.js";
import { MANIFEST } from "../bundle/forge.js";
import { temporaryFolder } from "../bundle/temp.js";
import { runNutshell } from "../cli/run-nutshell.js";

const root = temporaryFolder();

function folder(files: Readonly<Record<string, string>>, more: object = {}): string {
  const path = join(mkdtempSync(join(root, "g-")), "task");
  const all = { "nutshell.json": JSON.stringify({ ...MANIFEST, ...more }), ...files };
  for (const [name, content] of Object.entries(all)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return path;
}

async function timed(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

describe("a constraint of 300,000 characters", () => {
  const LONG = 300_000;
  const of = (start: string, piece: string, end = "") => `${start}${piece.repeat(LONG / piece.length)}${end}`;
  it.each([
    ["blanks", of("do not modify ", " ", "x")],
    ["full stops", of("", ".", "x")],
    ["a list of letters", of("only change ", "a, ")],
    ["verbs", of("do not ", "modify, ", "x")],
    ["the word files", of("only modify ", "files ", "a/b")],
    ["the word and", of("do not modify ", "and ")],
    ["quotes", of("only modify ", "`")],
  ])("is read in time: %s", async (_name, text) => {
    expect(await timed(() => readConstraints([text]))).toBeLessThan(6_000);
  });
});

describe("a path that is listed 500 times", () => {
  it("is read no more often than one that is listed once", async () => {
    const big = "context/big.md";
    const text = Array.from({ length: 200_000 }, (_, i) => `line ${i}\n`).join("");
    const check = async (times: number) => {
      const context = { requirements: big, additional: Array<string>(times).fill(big) };
      const { path } = await packFolder(folder({ [big]: text }, { context }), { output: join(root, `${times}.nut`) });
      return timed(async () => expect((await runNutshell(["check", path], { cwd: root })).code).toBeLessThan(2));
    };
    const once = await check(1);
    expect(await check(500)).toBeLessThan(Math.max(4_000, once * 8));
  }, 60_000);
});

describe("a file of more than 2 GiB", () => {
  it("is a refusal that names it, not our mistake", async () => {
    const path = folder({ "files/big.bin": "" });
    truncateSync(join(path, "files/big.bin"), 3 * 1024 ** 3);
    const content = await openContent(path);
    await expect(content.read("files/big.bin")).rejects.toMatchObject({
      code: "FILE_UNREADABLE",
      message: expect.stringContaining("big.bin: larger than 2 GiB"),
    });
    await content.close();
  });

  it("is summed up piece by piece, and the same", () => {
    const path = join(folder({ big: "" }), "big");
    const bytes = Buffer.alloc(65 * 1024 * 1024, "0123456789");
    writeFileSync(path, bytes);
    expect(seeEntry(path)).toMatchObject({
      size: bytes.length,
      hash: createHash("sha256").update(bytes).digest("hex"),
    });
  });
});

describe("a folder 1,500 deep", () => {
  it.each([
    ["check"],
    ["pack", "--force", "-o", "out.nut", "-d"],
    ["compress", "--force", "-o", "out.nut", "-d"],
    ["split", "-n", "2", "-o", "parts"],
    ["diff", "."],
    ["set", "task.title", "x", "-d"],
  ])("is packed or refused by %s, not our mistake", async (...words) => {
    const path = folder({ [`files/${"d/".repeat(1_500)}a.txt`]: "a\n" });
    const { code, err } = await runNutshell([...words.map((word) => (word === "." ? path : word)), path], {
      cwd: root,
    });
    expect(err).not.toContain("bug:");
    expect([0, 1, 2]).toContain(code);
  });
});

describe("criteria that come after one another", () => {
  const criterion = (id: string, after: readonly string[]) => ({ id, type: "shell", command: "true", after });

  it("are shared out in time, however many ways lead from one to another", async () => {
    const layers = Array.from({ length: 40 }, (_, layer) =>
      ["a", "b"].map((side) => criterion(`${side}${layer}`, layer === 0 ? [] : [`a${layer - 1}`, `b${layer - 1}`])),
    );
    const task = folder({
      "files/one.txt": "1\n",
      "files/two.txt": "2\n",
      "tests/criteria.json": JSON.stringify({ criteria: layers.flat() }),
    });
    const took = await timed(async () => {
      const { code, err } = await runNutshell(["split", task, "-n", "2"], { cwd: root });
      expect({ code, err }).toEqual({ code: 0, err: "" });
    });
    expect(took).toBeLessThan(20_000);
  });

  it("are put in order in time, when all of them follow one", async () => {
    const all = [criterion("first", []), ...Array.from({ length: 60_000 }, (_, n) => criterion(`${n}`, ["first"]))];
    const took = await timed(() => expect(criteriaProblem(all)).toBeNull());
    expect(took).toBeLessThan(5_000);
  });
});

describe("settings that somebody else wrote", () => {
  const refuse = (reason: string) => new Error(`refused: ${reason}`);
  const many = (count: number, row: (n: number) => string) => Array.from({ length: count }, (_, n) => row(n));
  const bomb = many(9, (n) => `b${n}: &b${n} [${Array(9).fill(n === 0 ? "1" : `*b${n - 1}`)}]`).join("\n");

  it.each([
    ["many thousand keys", many(50_000, (n) => `k${n}: 1`).join("\n"), /^read$/],
    ["a table of as many", `a: {${many(50_000, (n) => `k${n}: 1`)}}`, /^read$/],
    ["a word with thousands of tags", `a: ${"!!str ".repeat(50_000)}x`, /^refused: line 1: /],
    ["aliases of aliases", bomb, /^refused: .*alias/i],
    ["lists without end", `a: ${"[".repeat(100_000)}`, /^refused: /],
    ["a key twice", "a: 1\nb:\n  c: 1\n  c: 2\n", /^refused: line 4: Map keys must be unique$/],
  ])("are read or refused in time: %s", async (_, text, said) => {
    let answer = "read";
    const took = await timed(() => {
      try {
        parseYaml(text, refuse);
      } catch (error) {
        answer = (error as Error).message;
      }
    });
    expect(answer).toMatch(said);
    expect(took).toBeLessThan(15_000);
  });

  it("are no TOML when a key has thousands of names", async () => {
    expect(readToml("[a.b]\nc.d = 1\n")).toEqual({ a: { b: { c: { d: 1 } } } });
    expect(await timed(() => expect(readToml(`[a${".a".repeat(100_000)}]`)).toBeNull())).toBeLessThan(5_000);
  });
});

describe("criteria nested fifty thousand deep", () => {
  it.each([["check"], ["split", "-n", "2"], ["pack", "-o", "deep.nut", "--force"]])(
    "are no mistake of ours in %s",
    async (command, ...more) => {
      const deep = `{"criteria":[{"id":"a","type":"shell","command":"true","x":${"[".repeat(50_000)}${"]".repeat(50_000)}}]}`;
      const task = folder({ "files/a.txt": "a\n", "files/b.txt": "b\n", "tests/criteria.json": deep });
      const { code, err } = await runNutshell([command!, "--dir", task, ...more], { cwd: root });
      expect(code, err).toBeLessThan(3);
    },
  );
});
