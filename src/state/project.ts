// A project's state, opened from any folder inside it.
import { findRoot, findTop } from "./find-root.js";
import { currentBranch } from "./git-branch.js";
import { type Env, type Layout, layoutOf } from "./layout.js";
import { Store, type StoreOptions } from "./store.js";

export interface Project {
  readonly root: string;
  readonly layout: Layout;
  readonly store: Store;
  branch(): string;
}

export interface OpenOptions extends StoreOptions {
  readonly env?: Env;
  /** Overrides NEXUS_HARNESS_ID. */
  readonly harnessId?: string;
}

/** A server answers many calls about one project: what it parsed for one it keeps for the next. */
const open = new Map<string, Project>();
const MAX_OPEN = 64;

/** Finds the project of `cwd`. Creates nothing and takes no lock. */
export function openProject(cwd: string, { env = {}, harnessId, ...options }: OpenOptions = {}): Project {
  const root = findRoot(cwd, env);
  const isGiven = env.NEXUS_PROJECT_DIR !== undefined && env.NEXUS_PROJECT_DIR !== "";
  // A linked work tree shares the state and has a branch of its own.
  const top = isGiven ? root : findTop(cwd, env);
  const layout = layoutOf(root, harnessId ?? (env.NEXUS_HARNESS_ID || undefined));
  const key = JSON.stringify([root, top, layout.harnessId, options]);
  const earlier = open.get(key);
  if (earlier !== undefined) return earlier;
  if (open.size >= MAX_OPEN) forgetProjects();
  const project: Project = {
    root,
    layout,
    store: new Store(layout, options),
    branch: () => currentBranch(top, env),
  };
  open.set(key, project);
  return project;
}

/** Closes what was kept open of every project. */
export function forgetProjects(): void {
  for (const { store } of open.values()) store.forget();
  open.clear();
}
