import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporary } from "../../../tests/temporary.js";
import { packFolder } from "../../bundle/index.js";
import { leakGuard } from "./leak-guard.js";
import { type LookThreads, startThreads, threadsFor } from "./look-apart.js";

const TOKEN = `ghp_${"aB3dE5gH7jK9".repeat(3)}`;
const VALUE = "the-value-of-a-credential";

/** Small, empty and large files, some larger than a block, with leaks at their edges. */
function folder(files: Record<string, string> = {}): string {
  const dir = join(temporary("nut-look-"), "task");
  const long = "a line of text that is nothing\n".repeat(60_000);
  const all: Record<string, string> = {
    "nutshell.json": JSON.stringify({
      nutshell_version: "0.2.0",
      bundle_type: "request",
      id: "nut-x",
      task: { title: "t", summary: "s" },
    }),
    "files/empty.txt": "",
    "files/large.txt": long,
    "files/larger.txt": `${long}${long}end`,
    ...Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`files/small/${i}.txt`, `file ${i}\n`.repeat(i)])),
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

async function packed(dir: string, count: number, use: (threads: LookThreads | null) => void = () => {}) {
  const knownValues = [{ name: "c", value: VALUE }];
  const threads = startThreads(count);
  const guard = await leakGuard(dir, { threads, knownValues, allow: ["files/allowed.txt"] });
  const output = join(dirname(dir), `${count}.nut`);
  try {
    use(threads);
    const { hash } = await packFolder(dir, {
      output,
      observe: guard.observe,
      look: guard.look,
      approve: guard.approve,
    });
    return { hash, bytes: readFileSync(output) };
  } finally {
    await threads?.close();
  }
}

const refusal = (dir: string, threads: number) =>
  packed(dir, threads).then(
    () => null,
    (error) => ({ code: error.code, message: error.message, data: error.data }),
  );

describe("looking on threads of their own", () => {
  it("[P2] makes the same bytes as looking here", async () => {
    const dir = folder({ "files/allowed.txt": TOKEN });
    const here = await packed(dir, 0);
    for (const threads of [1, 3]) expect((await packed(dir, threads)).bytes.equals(here.bytes)).toBe(true);
  });

  it("[P4] finds the same leaks, and leaves nothing", async () => {
    const line = "a line of text that is nothing\n".repeat(17_000);
    const dir = folder({
      "files/a.txt": `x\n${TOKEN}\n`,
      "files/b.txt": `${line}${VALUE}\n${line}${TOKEN}`,
      "files/.npmrc": "",
      "files/small/7.txt": VALUE,
    });
    const here = await refusal(dir, 0);
    expect(here).toMatchObject({ code: "LEAK_FOUND" });
    expect(here?.data.leaks).toHaveLength(5);
    for (const threads of [1, 3]) expect(await refusal(dir, threads)).toEqual(here);
    expect(readdirSync(dirname(dir))).toEqual(["task"]);
  });

  it("says no, and leaves nothing, when a thread ends before its work does", async () => {
    const dir = folder();
    await expect(packed(dir, 2, (threads) => void threads?.close())).rejects.toThrow();
    expect(readdirSync(dirname(dir))).toEqual(["task"]);
  });

  it("is worth it for large packs where there are cores", () => {
    expect(threadsFor(1e6, 8)).toBe(0);
    expect(threadsFor(1e9, 1)).toBe(0);
    expect([2, 4, 64].map((cores) => threadsFor(1e9, cores))).toEqual([1, 2, 3]);
  });
});
