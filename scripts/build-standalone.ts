// Both tools as single files for machines without Node: our sources bundled as for npm, then compiled with Bun, whose
// packages are fetched by npm and checked. `npm run build:standalone` makes all targets; names after it make only those:
//   npm run build:standalone -- linux-amd64
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { requireForPackages, root, shared, version } from "./bundling.mjs";
import { fetchPackage } from "./fetch-package.js";

const BUN = "1.4.4";
const TOOLS = ["nutshell", "nexus"] as const;
type Tool = (typeof TOOLS)[number];

interface Target {
  readonly bun: string;
  readonly integrity: string;
  /** As the kernel lock's addon names it. */
  readonly addon: string;
  readonly suffix?: string;
}

/** "baseline" runs on every 64-bit processor of its kind, not only on those of the last ten years. */
export const TARGETS: Readonly<Record<string, Target>> = {
  "linux-amd64": {
    bun: "bun-linux-x64-baseline",
    integrity: "sha512-FBU6T21NT+i+rESbi0Z8A8G5xN51c+WZ0v6pIjI6szSzOlqVNv64nf7FPnwNIyxKD1M7Wg5cEobLC/QbzCeLtA==",
    addon: "linux-x64",
  },
  "linux-arm64": {
    bun: "bun-linux-aarch64",
    integrity: "sha512-ZTVtpf9zmHSBVPX1sBwe5agGb/rN34yPGg/Hby8e2Ax2uCUA2URZKlZH7qLntK7qaFJCMXh9v0GWNYN2zINz1w==",
    addon: "linux-arm64",
  },
  "darwin-amd64": {
    bun: "bun-darwin-x64-baseline",
    integrity: "sha512-uzSXckTnNNS7Un1ihiM31R7P5iKndZ65t6Zj3iI72SrfoV2uI97MKM8z1qer2oRHyqXHLUIJTIhj+qT5UeEjrw==",
    addon: "darwin-x64",
  },
  "darwin-arm64": {
    bun: "bun-darwin-aarch64",
    integrity: "sha512-zW/hxwc8sJAILGwB5eTC4i48ouGXf0V4lrxmEOk3JIE6JkYVW1TZh1E2pIempqsezgW1sckTIIDudFON8bJ2Mw==",
    addon: "darwin-arm64",
  },
  "windows-amd64": {
    bun: "bun-windows-x64-baseline",
    integrity: "sha512-c+169V+ole29sk5GpFuh6Q4uNwRDqu9tXZAVUYIsdfGZeiJeduQ030BkxHi3PmNpj7w/ec2+oO2okRFVFC9i1g==",
    addon: "win32-x64",
    suffix: ".exe",
  },
};

const cache = join(root, ".cache/standalone");
const out = join(root, "dist-standalone");

/** The name of this machine's target. */
export function hostTarget(): string | null {
  const os = { linux: "linux", darwin: "darwin", win32: "windows" }[process.platform as string];
  const arch = { x64: "amd64", arm64: "arm64" }[process.arch as string];
  const name = `${os}-${arch}`;
  return name in TARGETS ? name : null;
}

function bunOf(name: string): string {
  const { bun, integrity, suffix = "" } = TARGETS[name]!;
  return join(fetchPackage({ name: `@oven/${bun}`, version: BUN, integrity }, cache), "bin", `bun${suffix}`);
}

/** The addon is named where it is: Bun carries along whatever `.node` file it sees required. */
function carryAddon(addon: string): Plugin {
  const file = join(root, "node_modules/fs-native-extensions/prebuilds", addon, "fs-native-extensions.node");
  return {
    name: "carry-addon",
    setup({ onLoad, onResolve }) {
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
async function layOutAssets(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "dist"), { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name: "nutcracker", version })}\n`);
  for (const name of ["core", "dist/web"]) cpSync(join(root, name), join(folder, name), { recursive: true });
  await build({
    ...shared,
    // Setup writes __PLACE__ in front of it.
    stdin: {
      contents: 'import { nexusPlugin } from "./opencode-plugin.js"; export const Nexus = nexusPlugin(__PLACE__);',
      resolveDir: join(root, "src/cli/hooks"),
    },
    outfile: join(folder, "opencode-plugin.js"),
    format: "esm",
    minify: true,
    plugins: [...(shared.plugins ?? []), wholePlugin],
  });
}

async function bundle(tool: Tool, target: string, folder: string): Promise<void> {
  await build({
    ...shared,
    entryPoints: [join(root, `scripts/standalone/${tool}.ts`)],
    outfile: join(folder, `${tool}.js`),
    format: "esm",
    external: [],
    define: { ...shared.define, __STANDALONE__: "true" },
    banner: requireForPackages,
    plugins: [...(shared.plugins ?? []), carryAddon(TARGETS[target]!.addon)],
  });
}

function compile(tool: Tool, target: string, folder: string): string {
  const name = `${tool}-${target}${TARGETS[target]!.suffix ?? ""}`;
  const here = hostTarget() ?? "linux-amd64";
  execFileSync(
    bunOf(here),
    [
      "build",
      ...["--compile", "--minify", "--bytecode", "--format=esm"],
      // What an executable does must not depend on files that happen to lie where it is started.
      ...["--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig"],
      ...["--compile-executable-path", bunOf(target)],
      ...readdirSync(join(folder, "assets")).flatMap((asset) => ["--asset", asset]),
      ...["--outfile", join(out, name), join(folder, `${tool}.js`)],
    ],
    { cwd: join(folder, "assets"), stdio: ["ignore", "ignore", "inherit"] },
  );
  return name;
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
  for (const target of names.length > 0 ? names : Object.keys(TARGETS)) {
    const folder = join(cache, `work-${target}`);
    await layOutAssets(join(folder, "assets"));
    for (const tool of TOOLS) {
      await bundle(tool, target, folder);
      console.log(compile(tool, target, folder));
    }
    rmSync(folder, { recursive: true, force: true });
  }
  for (const name of ["LICENSE", "THIRD_PARTY_NOTICES.md", "install.sh"])
    copyFileSync(join(root, name), join(out, name));
  writeChecksums();
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
