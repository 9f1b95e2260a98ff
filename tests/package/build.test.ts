// Building under programs that run: in a copy, because a clone's own dist/ belongs to the other tests.
import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
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
import type { BuildOptions } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builds } from "../../scripts/bundling.mjs";
import { root } from "./installed.js";

const clone = mkdtempSync(join(tmpdir(), "nutcracker-build-"));
afterAll(() => rmSync(clone, { recursive: true, force: true }));

/** Our builder and a product of a few lines: how it puts what it made is asked here, and every run of the tests builds the real one. */
beforeAll(() => {
  for (const name of ["bin", "scripts", "package.json", "tsconfig.json", "tsconfig.types.json"])
    cpSync(join(root, name), join(clone, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  for (const path of ["src/cli/base.ts", ...builds.flatMap(sources)])
    put(path, path.endsWith(".css") ? "" : "export {};\n");
  for (const number of PARTS) put(`src/part-${number}.ts`, `export const told = "${number} of " + __VERSION__;\n`);
  put("src/version.ts", "export const version = __VERSION__;\n");
  put("src/commands/nutshell/main.ts", PROGRAM);
  expect(spawnSync(process.execPath, ["scripts/build.mjs"], { cwd: clone, encoding: "utf8" }).stderr).toBe("");
});

const sources = ({ entryPoints }: BuildOptions) => Object.values(entryPoints as Record<string, string>);

function put(path: string, text: string): void {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  writeFileSync(join(clone, path), text);
}

/** As many as our own commands load when they do much. */
const PARTS = Array.from({ length: 60 }, (_, number) => number);

/** Says whose its parts are, which it loads one after the other. */
const PROGRAM = `import { version } from "../../version.js";
export async function run() {
  const parts = [${PARTS.map((number) => `() => import("../../part-${number}.js")`)}];
  const seen = new Set([version]);
  for (const load of parts) seen.add((await load()).told.replace(/^\\d+ of /, ""));
  console.log("nutshell v" + [...seen].join(" and "));
  return 0;
}
`;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function start(args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, args, { cwd: clone, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => {
      output += bytes;
    });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

/** The version is in every chunk that tells it, so each of these is another build. */
function setVersion(version: string): void {
  const path = join(clone, "package.json");
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), version }));
}

const PART = /-[A-Z0-9]{8}\.c?js$/;
const stamp = (): { files: Record<string, [number, number]> } =>
  JSON.parse(readFileSync(join(clone, ".cache/build/stamp.json"), "utf8"));
const parts = () => readdirSync(join(clone, "dist/chunks")).sort();

describe("a build", () => {
  it.for(["0.1.1", "0.1.2", "0.1.3"])(
    "never breaks a program that starts meanwhile, nor another build: %s",
    async (version) => {
      const before = parts();
      const old = (await start(["bin/nutshell.js", "version"])).output;
      const begun = Date.now();
      setVersion(version);
      let building = true;
      const builds = Promise.all([start(["scripts/build.mjs"]), start(["scripts/build.mjs"])]).finally(() => {
        building = false;
      });
      const seen: Ended[] = [];
      while (building && seen.length < 1_000) seen.push(await start(["bin/nutshell.js", "version"]));
      expect(await builds).toEqual([
        { code: 0, output: "" },
        { code: 0, output: "" },
      ]);
      const either = [old, `nutshell v${version}\n`];
      expect(seen.filter(({ code, output }) => code !== 0 || !either.includes(output))).toEqual([]);
      expect((await start(["bin/nutshell.js", "version"])).output).toBe(either[1]);
      // Nothing is in place before the parts it loads are.
      const put = Object.entries(stamp().files).filter(([path, [, time]]) => path.startsWith("dist/") && time > begun);
      const times = (isPart: boolean) => put.filter(([path]) => PART.test(path) === isPart).map(([, [, time]]) => time);
      expect(Math.min(...times(false))).toBeGreaterThanOrEqual(Math.max(...times(true)));
      // A program that was running may still ask for them.
      expect(before.filter((name) => !parts().includes(name))).toEqual([]);
      expect(parts().length).toBeGreaterThan(before.length);
    },
  );

  it("does nothing when nothing has changed, and leaves no rest when it must be exact", async () => {
    const all = parts();
    const { files } = stamp();
    expect(await start(["scripts/build.mjs", "--exact"])).toEqual({ code: 0, output: "" });
    expect(stamp().files).toEqual(files);
    expect(parts().length).toBeLessThan(all.length);
    expect(parts().filter((name) => !(`dist/chunks/${name}` in files))).toEqual([]);
  });

  it("notices what was taken away, and builds nothing half when a source is wrong", async () => {
    rmSync(join(clone, "dist/nexus.cjs"));
    expect(await start(["scripts/build.mjs"])).toEqual({ code: 0, output: "" });
    expect(existsSync(join(clone, "dist/nexus.cjs"))).toBe(true);
    writeFileSync(join(clone, "src/version.ts"), "export const = ;\n");
    expect((await start(["scripts/build.mjs"])).code).toBe(1);
    expect((await start(["bin/nutshell.js", "version"])).output).toBe("nutshell v0.1.3\n");
    expect(readdirSync(join(clone, ".cache/build")).sort()).toEqual(["lock", "stamp.json"]);
  });
});
