// What npm puts on PATH as `codex` is a few lines of Node that look for the program in a package beside theirs and start it: half of a
// short session's start, and forty megabytes for as long as it lasts. So the program itself is started, with the variables they give it,
// where everything lies as in the version we tried; anywhere else what is on PATH is.
import { accessSync, constants, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { KNOWN_VERSIONS } from "../process/index.js";

export interface Started {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

const PACKAGE = "@openai/codex";

const TARGETS: Readonly<Record<string, string>> = {
  "linux-x64": "x86_64-unknown-linux-musl",
  "linux-arm64": "aarch64-unknown-linux-musl",
};

/** What is to be started for the `codex` that was found. */
export function pastLauncher(program: string, system = `${process.platform}-${process.arch}`): Started {
  return behind(program, system) ?? { command: program, env: {} };
}

function behind(program: string, system: string): Started | null {
  const target = TARGETS[system];
  if (target === undefined) return null;
  try {
    const launcher = realpathSync(program);
    if (!launcher.endsWith(`/${PACKAGE}/bin/codex.js`)) return null;
    const root = dirname(dirname(launcher));
    const beside = createRequire(launcher).resolve(`${PACKAGE}-${system}/package.json`);
    const { tried } = KNOWN_VERSIONS.codex;
    if (!isPackage(join(root, "package.json"), tried) || !isPackage(beside, `${tried}-${system}`)) return null;
    const command = join(dirname(beside), "vendor", target, "bin", "codex");
    accessSync(command, constants.X_OK);
    return { command, env: { CODEX_MANAGED_PACKAGE_ROOT: root, CODEX_MANAGED_BY_NPM: "1" } };
  } catch {
    // It is installed in another way, or not completely: what is on PATH says so itself.
    return null;
  }
}

function isPackage(file: string, asked: string): boolean {
  const { name, version } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  return name === PACKAGE && version === asked;
}
