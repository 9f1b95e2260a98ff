// Where everything of a project is.
import { lstatSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
import { NutError } from "../errors.js";

export const DEFAULT_HARNESS_ID = "nutcracker";

export interface Layout {
  readonly root: string;
  readonly nexus: string;
  readonly state: string;
  readonly artifacts: string;
  /** This harness's own folder. */
  readonly own: string;
  readonly harnessId: string;
  /** Locked around every change, never deleted. Shared by every harness id this product lives under. */
  readonly lock: string;
}

export type Env = Readonly<Record<string, string | undefined>>;

export function layoutOf(root: string, harnessId: string = DEFAULT_HARNESS_ID): Layout {
  if (!/^[a-z][a-z0-9-]*$/.test(harnessId)) {
    throw new NutError("USAGE", `"${harnessId}" is not a harness id: lower-case letters, digits and dashes`, {
      hint: "unset NEXUS_HARNESS_ID",
    });
  }
  const nexus = join(root, ".nexus");
  const state = join(nexus, "state");
  return {
    root,
    nexus,
    state,
    artifacts: join(state, "artifacts"),
    own: join(state, harnessId),
    harnessId,
    lock: join(state, DEFAULT_HARNESS_ID, "store.lock"),
  };
}

/** Refuses to follow `.nexus` or `.nexus/state` out of the project: state written elsewhere is state lost. */
export function assertInside(layout: Layout): void {
  for (const path of [layout.nexus, layout.state, layout.own, layout.artifacts]) assertFolderInside(layout, path);
}

/** One folder of it, which may be missing. */
export function assertFolderInside(layout: Layout, path: string): void {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return;
  if (entry.isSymbolicLink()) {
    const target = realTarget(path);
    const inside = realpathSync(layout.root) + sep;
    if (target?.startsWith(inside)) return;
    throw new NutError("STATE_DAMAGED", `${path} is a link that leaves the project`, {
      hint: `rm ${path}`,
      data: { path, target },
    });
  }
  if (!entry.isDirectory()) {
    throw new NutError("STATE_DAMAGED", `${path} is not a folder`, {
      hint: `mv ${path} ${path}.old`,
      data: { path },
    });
  }
}

function realTarget(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
