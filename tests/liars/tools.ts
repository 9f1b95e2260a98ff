// Programs the rows need beside the product. vitest and tsx are this repository's own; jest is fetched where it may be.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface Tools {
  /** Folders to put first on PATH. */
  readonly path: readonly string[];
  readonly has: (program: string) => boolean;
}

/** Only vitest, tsx and jest are taken from here; nothing else of node_modules is put on PATH. */
const JEST_FOLDER = process.env.NUT_LIARS_JEST ?? join(tmpdir(), `nut-liars-jest-${userInfo().uid}`);

export function findTools(): Tools {
  const wanted = [join(ROOT, "node_modules/.bin"), join(JEST_FOLDER, "node_modules/.bin"), rustToolchain()];
  const path = wanted.filter((at) => existsSync(at));
  const folders = [...path, ...(process.env.PATH ?? "").split(delimiter)];
  const known = new Map<string, boolean>();
  const look = (program: string) =>
    folders.some((folder) => existsSync(join(folder, program))) && works(program, [...path, process.env.PATH ?? ""]);
  return {
    path,
    has: (program) => {
      if (!known.has(program)) known.set(program, look(program));
      return known.get(program)!;
    },
  };
}

/** The programs behind rustup's shims, so that rows about cargo are not rows about rustup. */
function rustToolchain(): string {
  const { stdout } = spawnSync("rustc", ["--print", "sysroot"], { encoding: "utf8" });
  return join((stdout ?? "").trim() || "/nowhere", "bin");
}

/** A shim may be on PATH while what it stands for is not installed. */
function works(program: string, path: readonly string[]): boolean {
  const ask = program === "go" ? "version" : "--version";
  const { status } = spawnSync(program, [ask], {
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: "ignore",
  });
  return status === 0;
}

/** Fetches jest once per machine, where the registry or the cache answers; rows that need it are skipped otherwise. */
export function fetchJest(): void {
  if (existsSync(join(JEST_FOLDER, "node_modules/.bin/jest"))) return;
  mkdirSync(JEST_FOLDER, { recursive: true });
  spawnSync("npm", ["install", "--prefix", JEST_FOLDER, "--no-audit", "--no-fund", "--prefer-offline", "jest@30"], {
    stdio: "ignore",
    timeout: 120_000,
  });
}
