// Packages that lie elsewhere and stand in a tree while it is worked in or tested.

export interface InstalledTree {
  readonly folders: readonly InstalledFolder[];
  /** Folders of programs, from the root of the tree. */
  readonly bins: readonly string[];
  /** Variables that say where it is; `{tree}` is the root of the tree. */
  readonly env: Readonly<Record<string, string>>;
  /** Where the tree stood when it was made: programs in it may know that place. */
  readonly place: string;
}

export interface InstalledFolder {
  /** From the root of the tree. */
  readonly path: string;
  readonly from: string;
  /** Empty folders in it that programs write to. */
  readonly caches: readonly string[];
}

/** What commands in a tree are told of it. */
export function installedEnvironment({ bins, env }: InstalledTree, tree: string, path = ""): Record<string, string> {
  const own = Object.entries(env).map(([key, text]) => [key, text.replace("{tree}", tree)]);
  return { ...Object.fromEntries(own), PATH: [...bins.map((bin) => `${tree}/${bin}`), path].join(":") };
}
