// Builds dist/hosts: a plugin folder for Claude Code and Codex with a marketplace file for each, and a plugin for OpenCode.
// The folder carries its own runtime, because hosts copy a plugin away from where it was built.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const given = process.argv.indexOf("--out");
const out = given < 0 ? join(root, "dist/hosts") : process.argv[given + 1];
const plugin = join(out, "nutcracker");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

if (process.argv.includes("--all"))
  spawnSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
rmSync(out, { recursive: true, force: true });

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  define: { __VERSION__: JSON.stringify(version) },
  loader: { ".md": "text" },
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  logLevel: "warning",
  // Without its addon the store falls back to a lock made of files.
  external: ["fs-native-extensions"],
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module";const require=__createRequire(import.meta.url);',
  },
};
await build({
  ...shared,
  entryPoints: { nexus: "src/cli/nexus/main.ts" },
  outdir: join(plugin, "dist"),
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
});
await build({
  ...shared,
  entryPoints: { full: "src/run/full.ts" },
  outdir: join(plugin, "dist/hook"),
  splitting: true,
  chunkNames: "[name]-[hash]",
});
for (const name of ["hook.js", "opencode-plugin.js"])
  cpSync(join(root, "dist/hook", name), join(plugin, "dist/hook", name));
cpSync(join(root, "core"), join(plugin, "core"), { recursive: true });
cpSync(join(root, "bin/nexus.js"), join(plugin, "bin/nexus.js"));
cpSync(join(root, "LICENSE"), join(plugin, "LICENSE"));
writeFileSync(
  join(plugin, "package.json"),
  `${JSON.stringify({ name: "nutcracker-plugin", version, type: "module", private: true }, null, 2)}\n`,
);

// The content is worked out by the product itself; only its bundle can be run here.
const maker = join(root, `dist/hosts-maker-${process.pid}.mjs`);
await build({
  ...shared,
  entryPoints: ["src/operations/hosts/plugins.ts"],
  outfile: maker,
  external: [...shared.external, "zod"],
});
const { pluginFiles } = await import(pathToFileURL(maker).href);
for (const [path, content] of Object.entries(await pluginFiles())) {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  writeFileSync(join(out, path), content);
}
rmSync(maker);
console.log(`built ${out}`);
