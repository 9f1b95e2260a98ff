// What a request says its checks need installed: lock files of the tree, and scripts of the request's own.
import { posix } from "node:path";
import { NutError } from "../../errors.js";
import type { Manifest } from "../../schema/manifest.js";
import { inside } from "./paths.js";

export type InstallKind = "npm" | "pnpm" | "pip" | "uv" | "cargo" | "go" | "script";

export interface InstallStep {
  /** The lock file or script, from the root of the tree. */
  readonly path: string;
  readonly kind: InstallKind;
  /** What it needs besides, as paths, folders and patterns. */
  readonly reads: readonly string[];
  readonly network: boolean;
}

/** Throws CRITERIA_INVALID for a path that leaves the tree. */
export function installSteps({ acceptance }: Manifest): InstallStep[] {
  return (acceptance?.install ?? []).map((step) => {
    const { path, reads = [], network = true } = typeof step === "string" ? { path: step } : step;
    const clean = posix.normalize(path);
    if (!inside(clean) || clean.endsWith("/") || !reads.every(inside)) {
      throw new NutError("CRITERIA_INVALID", `acceptance.install: ${path} leaves the tree, or is no file`, {
        hint: "nutshell set acceptance.install package-lock.json --append",
        data: { path },
      });
    }
    return { path: clean, kind: installKind(clean), reads, network };
  });
}

const LOCKS: readonly (readonly [RegExp, InstallKind])[] = [
  [/^(?:package-lock|npm-shrinkwrap)\.json$/, "npm"],
  [/^pnpm-lock\.yaml$/, "pnpm"],
  [/^uv\.lock$/, "uv"],
  [/^requirements[^/]*\.txt$/, "pip"],
  [/^Cargo\.lock$/, "cargo"],
  [/^go\.sum$/, "go"],
];

/** By the name of the file; whatever is no lock file is a script. */
export const installKind = (path: string): InstallKind =>
  LOCKS.find(([name]) => name.test(posix.basename(path)))?.[1] ?? "script";
