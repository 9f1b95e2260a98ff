// The runner of `npm run mutate`, on a project of a few lines, and the lists it is kept for.
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Breakage, problemsOf, readLists } from "../scripts/mutate/lists.js";

const root = fileURLToPath(new URL("..", import.meta.url));

describe("the lists of breakages", () => {
  it("are well formed: each can be applied, changes something and names tests that exist", () => {
    const lists = readLists(root);
    const ids = lists.map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    const wrong = lists.flatMap((one) => problemsOf(one, root).map((problem) => `${one.id}: ${problem}`));
    expect(wrong).toEqual([]);
    expect(lists.length).toBeGreaterThan(0);
  });
});

const SUM = { file: "src/sum.ts", find: "a + b", replace: "a - b", tests: ["tests/sum.test.ts"], promise: null };

const PROJECT: Readonly<Record<string, string>> = {
  "package.json": '{ "type": "module" }',
  ".gitignore": "node_modules\ndist\n.cache\n",
  "src/sum.ts": "export const sum = (a: number, b: number) => a + b;\n// nobody minds\n",
  "src/greeting.txt": "hello",
  "scripts/build.mjs":
    'import { copyFileSync, mkdirSync } from "node:fs";\nmkdirSync("dist", { recursive: true });\ncopyFileSync("src/greeting.txt", "dist/greeting.txt");\n',
  "tests/sum.test.ts":
    'import { expect, it } from "vitest";\nimport { sum } from "../src/sum.js";\nit("adds", () => expect(sum(2, 1)).toBe(3));\n',
  // Looks at what was built without saying so in a way the runner could see.
  "tests/greeting.test.ts":
    'import { readFileSync } from "node:fs";\nimport { expect, it } from "vitest";\nconst folder = ["di", "st"].join("");\nit("greets", () => expect(readFileSync(folder + "/greeting.txt", "utf8")).toBe("hello"));\n',
  "tests/broken.test.ts": 'import { expect, it } from "vitest";\nit("never passes", () => expect(1).toBe(2));\n',
};

/** A process that has ended stays until somebody asks how. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

describe("npm run mutate", () => {
  // Bundled once: it is started eight times here, and each would make JavaScript of a hundred files anew.
  const program = mkdtempSync(join(tmpdir(), "nutcracker-mutate-"));
  beforeAll(() => {
    const into = { platform: "node", format: "esm", outfile: join(program, "mutate.mjs") } as const;
    buildSync({ absWorkingDir: root, entryPoints: ["scripts/mutate.ts"], bundle: true, ...into });
  });
  afterAll(() => rmSync(program, { recursive: true, force: true }));

  let tiny: string;
  beforeEach(() => {
    tiny = mkdtempSync(join(tmpdir(), "nutcracker-tiny-"));
    for (const [name, text] of Object.entries(PROJECT)) put(name, text);
    symlinkSync(join(root, "node_modules"), join(tiny, "node_modules"));
    spawnSync("git", ["init", "-q"], { cwd: tiny });
  });
  afterEach(() => rmSync(tiny, { recursive: true, force: true }));

  function put(name: string, text: string): void {
    mkdirSync(dirname(join(tiny, name)), { recursive: true });
    writeFileSync(join(tiny, name), text);
  }
  const keep = (list: readonly Partial<Breakage>[]) => put("tests/mutations/tiny.json", JSON.stringify(list));
  const command = (flags: readonly string[]) => [
    ...[join(program, "mutate.mjs"), "--root", tiny],
    ...["--results", join(tiny, ".cache/results.jsonl"), ...flags],
  ];
  const mutate = (...flags: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, command(flags), { cwd: root, encoding: "utf8" });
    return { status, stdout, stderr };
  };
  const copies = () => readdirSync(join(tiny, ".cache")).filter((name) => name.startsWith("mutate-"));

  it("tells what was caught, what survived and what could not be tried, and remembers", () => {
    keep([
      { id: "minus", ...SUM },
      {
        id: "built",
        ...SUM,
        file: "src/greeting.txt",
        find: "hello",
        replace: "bye",
        tests: ["tests/greeting.test.ts"],
      },
      { id: "words", ...SUM, find: "nobody minds", replace: "somebody minds" },
      { id: "gone", ...SUM, find: "a * b" },
      { id: "red", ...SUM, tests: ["tests/broken.test.ts"] },
    ]);
    const { status, stdout } = mutate("--json", "--jobs", "2");
    expect(status).toBe(1);
    const { results, ...summary } = JSON.parse(stdout);
    expect(summary).toEqual({ breakages: 5, caught: 2, percent: 66.6 });
    expect(results).toMatchObject([
      { id: "minus", outcome: "caught", by: "adds" },
      { id: "built", outcome: "caught", by: "greets" },
      { id: "words", outcome: "survived" },
      { id: "gone", outcome: "could not apply", by: "its text occurs 0 times in src/sum.ts" },
      { id: "red", outcome: "broken before", by: "never passes" },
    ]);
    expect(copies()).toEqual([]);
    expect(readFileSync(join(tiny, "src/sum.ts"), "utf8")).toBe(PROJECT["src/sum.ts"]);

    // Nothing is run for what is known; a test that changed makes it unknown.
    const again = mutate("--only", "minus");
    expect(again).toMatchObject({ status: 0, stdout: "1 of 1 caught (100 %), 0 could not be tried\n" });
    expect(again.stderr).toBe("1 breakages, 1 known already\n");
    expect(mutate("--only", "greeting.txt", "--list").stdout).toBe("built  src/greeting.txt  -  caught\n");
    put("tests/sum.test.ts", `${PROJECT["tests/sum.test.ts"]}\n`);
    expect(mutate("--only", "minus", "--list").stdout).toBe("minus  src/sum.ts  -  not tried\n");
    expect(mutate("--only", "nothing").status).toBe(2);
  });

  it("stops when it is told to, with all it started, and leaves no copy", async () => {
    const pids = join(tiny, ".cache/pids");
    put(
      "tests/sum.test.ts",
      `import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { it } from "vitest";
import { sum } from "../src/sum.js";
it("waits when it is wrong", async () => {
  if (sum(2, 1) === 3) return;
  const child = spawn("sleep", ["600"], { detached: true });
  appendFileSync(${JSON.stringify(pids)}, String(child.pid));
  await new Promise(() => {});
}, 600_000);\n`,
    );
    keep([{ id: "minus", ...SUM }]);
    const child = spawn(process.execPath, command([]), { cwd: root, stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("close", resolve));
    for (let tries = 0; !existsSync(pids) && tries < 600; tries += 1) await sleep(50);
    expect(copies().length).toBe(1);
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(copies()).toEqual([]);
    expect(isAlive(Number(readFileSync(pids, "utf8")))).toBe(false);
  });
});
