// What a request says its checks need installed: lock files of the tree, and scripts of the request's own.
import { posix } from "node:path";
import { NutError } from "../../errors.js";
import { type InstallKind, installKind } from "../../schema/install.js";
import type { Manifest } from "../../schema/manifest.js";
import { inside } from "./paths.js";

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
