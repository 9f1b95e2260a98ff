// A package that is a program for one platform: fetched with npm when it is needed, checked against a digest we keep, and
// unpacked into a cache folder. No install script of anyone is run.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}

/** The package's folder. Throws when npm cannot bring it, or brings something else. */
export function fetchPackage({ name, version, integrity }: PinnedPackage, cache: string): string {
  const folder = join(cache, `${name.replace("/", "+")}-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, "fetch-"));
  try {
    const packed = run("npm", ["pack", `${name}@${version}`, "--json", "--pack-destination", work]);
    const tarball = join(work, JSON.parse(packed)[0].filename.replace(/^@/, "").replace("/", "-"));
    const [kind = "", wanted] = integrity.split("-", 2);
    const got = createHash(kind).update(readFileSync(tarball)).digest("base64");
    if (got !== wanted) throw new Error(`${name}@${version} is not what it was: ${kind} ${got}, expected ${wanted}`);
    run("tar", ["-xzf", tarball, "-C", work]);
    rename(join(work, "package"), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

/** Someone else may have been faster: theirs was checked as well. */
function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}

function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", timeout: 240_000 });
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.slice(0, 2).join(" ")}: ${error?.message ?? stderr.trim().split("\n").at(-1)}`);
}
