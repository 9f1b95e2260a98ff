// The package as a stranger gets it: packed by npm, installed by npm into an empty folder.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Installed {
  /** The stranger's project; the package is in its node_modules. */
  readonly project: string;
  readonly folder: string;
  readonly packed: readonly string[];
  remove(): void;
}

export function installPackage(): Installed {
  const work = mkdtempSync(join(tmpdir(), "nutcracker-package-"));
  const npm = (args: readonly string[], cwd: string) =>
    execFileSync("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], { cwd, encoding: "utf8" });
  // Built by the tests' own setup; packing must not build again under the feet of other tests.
  const [packed] = JSON.parse(npm(["pack", "--ignore-scripts", "--json", "--pack-destination", work], root));
  const project = join(work, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "stranger", private: true, type: "module" }));
  npm(["install", "--prefer-offline", join(work, packed.filename)], project);
  return {
    project,
    folder: join(project, "node_modules/nutcracker"),
    packed: packed.files.map(({ path }: { path: string }) => path),
    remove: () => rmSync(work, { recursive: true, force: true }),
  };
}

/** What a folder's files take, as their sizes say. */
export function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Names of all installed packages. */
export function packagesIn(modules: string): string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(modules, name)).map((own) => `${name}/${own}`) : [name],
    )
    .sort();
}
