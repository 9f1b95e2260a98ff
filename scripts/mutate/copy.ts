// A copy of the tree to break things in. It lies in .cache rather than in the system's temporary folder, which agents under
// test are given an empty one in place of.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
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
import type { Breakage } from "./lists.js";

export interface Copy {
  readonly folder: string;
  /** What tests leave when they are cut off ends up here. */
  readonly temporary: string;
  /** Breaks the file and returns how to mend it. */
  apply(breakage: Breakage): () => void;
  remove(): void;
}

export function copyTree(root: string): Copy {
  mkdirSync(join(root, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(root, ".cache/mutate-"));
  const temporary = mkdtempSync(join(tmpdir(), "nutcracker-mutate-"));
  // A database server is started as another user, who must get through to its folder.
  chmodSync(temporary, 0o711);
  const remove = () => {
    for (const path of [folder, temporary]) rmSync(path, { recursive: true, force: true });
  };
  try {
    for (const name of sourcesOf(root)) {
      mkdirSync(join(folder, dirname(name)), { recursive: true });
      copyFileSync(join(root, name), join(folder, name));
    }
    linkPackages(root, folder);
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, temporary, remove, apply: (breakage) => apply(breakage, folder) };
}

/** What git keeps, and what it will when it is added. */
function sourcesOf(root: string): string[] {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  return listed
    .toString("utf8")
    .split("\0")
    .filter((name) => name !== "" && existsSync(join(root, name)));
}

/** A folder of its own, because programs keep caches in node_modules. */
function linkPackages(root: string, folder: string): void {
  mkdirSync(join(folder, "node_modules"));
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name === ".cache" || name === ".vite") continue;
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
}

function apply({ file, find, replace }: Breakage, folder: string): () => void {
  const path = join(folder, file);
  const before = readFileSync(path, "utf8");
  writeFileSync(path, before.split(find).join(replace));
  return () => writeFileSync(path, before);
}
