// Both tools as single files for machines without Node: our sources bundled as for npm, then compiled with Bun, whose
// packages are fetched by npm and checked. `npm run build:standalone` makes all targets; names after it make only those:
//   npm run build:standalone -- linux-amd64 [--out <folder>]
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { manifest, pages, readLater, requireForPackages, root, shared, version } from "./bundling.mjs";
import { BUN, bunOf, cache, hostTarget, TARGETS } from "./standalone/targets.js";
import { billOfMaterials, bundledPackages, notices } from "./third-party.mjs";

const TOOLS = ["nutshell", "nexus"] as const;
type Tool = (typeof TOOLS)[number];

const { positionals, values } = parseArgs({ options: { out: { type: "string" } }, allowPositionals: true });
const out = resolve(values.out ?? join(root, "dist-standalone"));

/**
 * The lock: on Windows the addon, named where it is, because Bun carries along whatever `.node` file it sees required;
 * elsewhere our own, because there the addon ends a Bun process.
 */
function carryLock(addon: string): Plugin {
  const file = join(root, "node_modules/fs-native-extensions/prebuilds", addon, "fs-native-extensions.node");
  return {
    name: "carry-lock",
    setup({ onLoad, onResolve }) {
      if (!addon.startsWith("win32")) {
        onResolve({ filter: /\/kernel-addon\.js$/ }, () => ({ path: join(root, "scripts/standalone/posix-lock.ts") }));
        return;
      }
      onLoad({ filter: /src\/state\/kernel-addon\.ts$/ }, () => ({
        contents: 'import addon from "fs-native-extensions"; export const loadAddon = () => addon;',
        resolveDir: join(root, "src/state"),
      }));
      onResolve({ filter: /^\.\/binding$/ }, ({ importer }) =>
        importer.includes("fs-native-extensions") ? { path: file, external: true } : undefined,
      );
    },
  };
}

/** OpenCode loads the plugin into its own process, where our executable is not: the code holds all it needs. */
const wholePlugin: Plugin = {
  name: "whole-plugin",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /\/full\.js$/ }, () => ({ path: join(root, "src/catalog/config.ts") }));
    onResolve({ filter: /\/manifest\.js$/ }, ({ importer }) =>
      /src\/catalog\/index\.ts$/.test(importer) ? { path: "core-manifest", namespace: "carried" } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "carried" }, () => ({
      contents: 'import manifest from "./core/manifest.json"; export const readManifestFast = () => manifest;',
      resolveDir: root,
    }));
  },
};

/** What an executable carries besides its code, laid out as in the package. */
async function layOutAssets(folder: string): Promise<Metafile> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "dist"), { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name: "nutcracker", version })}\n`);
  for (const name of ["core", "dist/web", "SKILL.md", "templates"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  const { metafile } = await build({
    ...shared,
    metafile: true,
    // Setup writes __PLACE__ in front of it.
    stdin: {
      contents: 'import { nexusPlugin } from "./opencode-plugin.js"; export const Nexus = nexusPlugin(__PLACE__);',
      resolveDir: join(root, "src/hook"),
    },
    outfile: join(folder, "opencode-plugin.js"),
    format: "esm",
    minify: true,
    plugins: [...(shared.plugins ?? []), wholePlugin],
  });
  return metafile;
}

/** What nexus reads when it asks for it. */
const LATER = { full: "src/session/full.ts", "nexus-rest": "scripts/standalone/nexus-rest.ts" };

/** Parts of a tool. A host waits for nexus at every tool call: the gate's part holds all it needs, as in the package. */
async function bundle(tool: Tool, target: string, folder: string): Promise<Metafile[]> {
  const plugins = [...(shared.plugins ?? []), carryLock(TARGETS[target]!.addon)];
  const options: BuildOptions & { metafile: true } = {
    ...shared,
    metafile: true,
    outdir: folder,
    format: "esm",
    external: ["bun:ffi"],
    define: { ...shared.define, __STANDALONE__: "true" },
    banner: requireForPackages,
    plugins,
  };
  const first = { [tool]: `scripts/standalone/${tool}.ts` };
  const builds =
    tool === "nutshell"
      ? [build({ ...options, entryPoints: first, splitting: true })]
      : [
          build({ ...options, entryPoints: first, plugins: [...plugins, readLater(Object.keys(LATER))] }),
          build({ ...options, entryPoints: LATER, splitting: true }),
        ];
  return (await Promise.all(builds)).map(({ metafile }) => metafile);
}

function compile(tool: Tool, target: string, folder: string): string {
  const name = `${tool}-${target}${TARGETS[target]!.suffix ?? ""}`;
  const here = hostTarget() ?? "linux-amd64";
  execFileSync(
    bunOf(here),
    [
      "build",
      ...["--compile", "--splitting", "--minify", "--bytecode", "--format=esm"],
      // What an executable does must not depend on files that happen to lie where it is started.
      ...["--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig"],
      ...["--target", TARGETS[target]!.bun.replace("aarch64", "arm64"), "--compile-executable-path", bunOf(target)],
      ...readdirSync(join(folder, "assets")).flatMap((asset) => ["--asset", asset]),
      ...["--outfile", join(out, name), join(folder, tool, `${tool}.js`)],
    ],
    { cwd: join(folder, "assets"), stdio: ["ignore", "ignore", "inherit"] },
  );
  return name;
}

/** What is carried: the pages were bundled by the build, the engine is in every file as well. */
async function writeNotices(metafiles: readonly Metafile[]): Promise<void> {
  const { metafile } = await build({ ...pages, metafile: true, write: false });
  const packages = bundledPackages([...metafiles, metafile], root);
  const engine = `## Bun ${BUN} (MIT)

The executables contain the Bun runtime and what it links, among it JavaScriptCore, which is under the LGPL-2. Bun lists
them with their licences, and says how to link it anew, in its documentation under "License".
`;
  writeFileSync(join(out, "THIRD_PARTY_NOTICES.md"), `${notices(packages)}\n${engine}`);
  const bun = { name: "bun", version: BUN, license: "MIT" };
  writeFileSync(join(out, "sbom.cdx.json"), billOfMaterials([...packages, bun], manifest));
}

function writeChecksums(): void {
  const names = readdirSync(out).filter((name) => /^(nutshell|nexus)-/.test(name));
  const lines = names.sort().map((name) => {
    const digest = createHash("sha256")
      .update(readFileSync(join(out, name)))
      .digest("hex");
    return `${digest}  ${name}\n`;
  });
  writeFileSync(join(out, "SHA256SUMS"), lines.join(""));
}

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !(name in TARGETS));
  if (unknown.length > 0) {
    console.error(`build-standalone: no target ${unknown.join(", ")}; there are ${Object.keys(TARGETS).join(", ")}`);
    return 2;
  }
  if (!existsSync(join(root, "dist/web"))) {
    console.error("build-standalone: dist/ is not built: npm run build");
    return 2;
  }
  mkdirSync(out, { recursive: true });
  const metafiles: Metafile[] = [];
  for (const target of names.length > 0 ? names : Object.keys(TARGETS)) {
    const folder = join(cache, `work-${target}-${process.pid}`);
    metafiles.push(await layOutAssets(join(folder, "assets")));
    for (const tool of TOOLS) {
      metafiles.push(...(await bundle(tool, target, join(folder, tool))));
      console.log(compile(tool, target, folder));
    }
    rmSync(folder, { recursive: true, force: true });
  }
  for (const name of ["LICENSE", "install.sh"]) copyFileSync(join(root, name), join(out, name));
  await writeNotices(metafiles);
  writeChecksums();
  return 0;
}

process.exitCode = await main(positionals);
