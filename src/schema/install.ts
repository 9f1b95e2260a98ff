// Lock files that what checks need can be installed from, by name.

export type InstallKind = "npm" | "pnpm" | "pip" | "uv" | "cargo" | "go" | "script";

const LOCKS: readonly (readonly [RegExp, InstallKind])[] = [
  [/(?:^|\/)(?:package-lock|npm-shrinkwrap)\.json$/, "npm"],
  [/(?:^|\/)pnpm-lock\.yaml$/, "pnpm"],
  [/(?:^|\/)uv\.lock$/, "uv"],
  [/(?:^|\/)requirements[^/]*\.txt$/, "pip"],
  [/(?:^|\/)Cargo\.lock$/, "cargo"],
  [/(?:^|\/)go\.sum$/, "go"],
];

/** By the name of the file; whatever is no lock file is a script. */
export const installKind = (path: string): InstallKind => LOCKS.find(([name]) => name.test(path))?.[1] ?? "script";
