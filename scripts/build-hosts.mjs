// Builds dist/hosts: a plugin folder for Claude Code and Codex with a marketplace file for each, and a plugin for OpenCode.
// The folder carries its own runtime, because hosts copy a plugin away from where it was built.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { dependencies, hookRest, programs, requireForPackages, root, shared, version } from "./bundling.mjs";
import { loadedLate } from "./late-loading.mjs";

const given = process.argv.indexOf("--out");
const out = given < 0 ? join(root, "dist/hosts") : process.argv[given + 1];
const plugin = join(out, "nutcracker");

if (process.argv.includes("--all"))
  spawnSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
rmSync(out, { recursive: true, force: true });

// Without its addon the store falls back to a lock made of files.
const nexus = { ...programs, entryPoints: { nexus: programs.entryPoints.nexus }, outdir: join(plugin, "dist") };
for (const { path, contents } of await loadedLate(await build({ ...nexus, write: false }), nexus)) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents);
}
await build({ ...hookRest, outdir: join(plugin, "dist/hook") });
for (const name of ["hook.js", "opencode-plugin.js"])
  cpSync(join(root, "dist/hook", name), join(plugin, "dist/hook", name));
cpSync(join(root, "core"), join(plugin, "core"), { recursive: true });
for (const name of ["nexus.js", "package.json"]) cpSync(join(root, "bin", name), join(plugin, "bin", name));
cpSync(join(root, "LICENSE"), join(plugin, "LICENSE"));
writeFileSync(
  join(plugin, "package.json"),
  `${JSON.stringify({ name: "nutcracker-plugin", version, type: "module", private: true }, null, 2)}\n`,
);

// The content is worked out by the product itself; only its bundle can be run here. Not in dist/, which others may be copying.
const maker = join(root, `node_modules/.hosts-maker-${process.pid}.mjs`);
await build({
  ...shared,
  entryPoints: ["src/commands/nexus/hosts/plugins.ts"],
  outfile: maker,
  format: "esm",
  external: Object.keys(dependencies),
  banner: requireForPackages,
});
const { pluginFiles } = await import(pathToFileURL(maker).href);
for (const [path, content] of Object.entries(await pluginFiles())) {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  writeFileSync(join(out, path), content);
}
rmSync(maker);
console.log(`built ${out}`);
