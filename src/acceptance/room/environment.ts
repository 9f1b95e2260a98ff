// What a command in a room is told: the same on every machine, and nothing that tells a room from a desk.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Environment, type Mount, visiblePath } from "../../process/index.js";

export interface Places {
  readonly home: string;
  readonly temporary: string;
}

export function roomEnvironment(env: Environment, { home, temporary }: Places, sandboxed: boolean): Environment {
  return {
    PATH: ownPath(sandboxed ? visiblePath(env) : env.PATH),
    HOME: home,
    TMPDIR: temporary,
    USER: "user",
    LOGNAME: "user",
    SHELL: "/bin/sh",
    LANG: "C.UTF-8",
    TZ: "UTC",
    PYTHONDONTWRITEBYTECODE: "1",
    ...gitVariables,
    ...toolchains(env, home),
  };
}

/**
 * npm puts the programs of the project somebody stands in first on PATH; elsewhere the same check would not have them. Those of
 * another place are there because somebody wants them.
 */
function ownPath(path = "", cwd = process.cwd()): string {
  const isAround = (folder: string) => {
    const [, project] = /^(.*)\/node_modules\/\.bin\/?$/.exec(folder) ?? [];
    return project !== undefined && `${cwd}/`.startsWith(`${project}/`);
  };
  return path
    .split(delimiter)
    .filter((folder) => !isAround(folder))
    .join(delimiter);
}

/** `git init` and `git commit` work at once, whoever owns the folder, and no list in the home says what git does not see. */
const gitVariables: Environment = {
  GIT_AUTHOR_NAME: "user",
  GIT_AUTHOR_EMAIL: "user@example.org",
  GIT_COMMITTER_NAME: "user",
  GIT_COMMITTER_EMAIL: "user@example.org",
  GIT_CONFIG_COUNT: "3",
  GIT_CONFIG_KEY_0: "safe.directory",
  GIT_CONFIG_VALUE_0: "*",
  GIT_CONFIG_KEY_1: "core.excludesFile",
  GIT_CONFIG_VALUE_1: "/dev/null",
  GIT_CONFIG_KEY_2: "core.attributesFile",
  GIT_CONFIG_VALUE_2: "/dev/null",
};

/** Where toolchains keep what they fetched: without a network there is nothing else to build from. */
function toolchains(env: Environment, home: string): Environment {
  const known = (name: string, ...below: string[]) => {
    const path = env[name] ?? (env.HOME === undefined ? undefined : join(env.HOME, ...below));
    return path !== undefined && existsSync(path) ? path : undefined;
  };
  return {
    RUSTUP_HOME: known("RUSTUP_HOME", ".rustup"),
    CARGO_HOME: join(home, ".cargo"),
    GOMODCACHE: known("GOMODCACHE", "go", "pkg", "mod"),
    GOROOT: env.GOROOT,
    GOPROXY: "off",
    GOTOOLCHAIN: "local",
    JAVA_HOME: env.JAVA_HOME,
    PLAYWRIGHT_BROWSERS_PATH: known("PLAYWRIGHT_BROWSERS_PATH", ".cache", "ms-playwright"),
  };
}

/** Caches that their programs insist on writing to: a layer of the room's own over what is there. */
export function cacheMounts(
  env: Environment,
  { home, changes, has }: { home: string; changes: string; has: (name: string) => boolean },
): Mount[] {
  if (env.HOME === undefined) return [];
  const cargo = env.CARGO_HOME ?? join(env.HOME, ".cargo");
  const rows = [
    { wanted: has("Cargo.toml"), from: join(cargo, "registry"), to: ".cargo/registry" },
    { wanted: has("Cargo.toml"), from: join(cargo, "git"), to: ".cargo/git" },
    { wanted: has("pom.xml"), from: join(env.HOME, ".m2/repository"), to: ".m2/repository" },
  ];
  return rows
    .filter(({ wanted, from }) => wanted && existsSync(from))
    .map(({ from, to }, index) => ({
      access: "overlay",
      path: join(home, to),
      layers: [from],
      changes: `${changes}${index}`,
    }));
}
