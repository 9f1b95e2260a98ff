// The bytes of files as they were, by git's own name for them (SHA-1 of a blob). Where there is a repository, what is in its
// packs costs nothing: they are linked into a store of our own, which no agent works in; only what git does not have is
// written. Without git, bytes are copied.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { onDisk } from "./disk-names.js";
import { pathFrom } from "./listing.js";

export const OID_BYTES = 20;
/** What nobody keeps the bytes of. */
export const NO_OID = Buffer.alloc(OID_BYTES);

/** Git's name for bytes. */
export function oidOf(bytes: Uint8Array): Buffer {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest();
}

/** A class because it knows, once it was asked, whether there is a git to ask. */
export class KeptBlobs {
  readonly #folder: string;
  readonly #alone: boolean;
  #git: boolean | null = null;

  /** `alone`: nobody else needs what is kept, so packs the repository gave up may go. */
  constructor(folder: string, { alone = false } = {}) {
    this.#folder = folder;
    this.#alone = alone;
  }

  /** Keeps files of `root`, given as Latin-1 paths; NO_OID for one that could not be read. */
  keep(root: string, paths: readonly string[]): Buffer[] {
    if (paths.length === 0) return [];
    this.#prepare(root);
    const plain = this.#git === true ? paths.filter((path) => !/^"|\n/.test(path)) : [];
    const oids = new Map<string, Buffer>(this.#git === true ? this.#hashAll(root, plain) : []);
    return paths.map((path) => oids.get(path) ?? this.#keepOne(root, path));
  }

  /** null when they are not there, or are not what they were. */
  read(oid: Buffer): Buffer | null {
    const name = oid.toString("hex");
    const copy = join(this.#folder, "copies", name);
    const bytes = existsSync(copy) ? readFileSync(copy) : this.#run(["cat-file", "blob", name]);
    return bytes !== null && oidOf(bytes).equals(oid) ? bytes : null;
  }

  #prepare(root: string): void {
    const git = join(this.#folder, "git");
    this.#git ??= spawnSync("git", ["--version"], { stdio: "ignore" }).status === 0;
    mkdirSync(join(this.#folder, "copies"), { recursive: true, mode: 0o700 });
    if (!this.#git) return;
    for (const name of ["objects/info", "objects/pack", "refs"])
      mkdirSync(join(git, name), { recursive: true, mode: 0o700 });
    if (!existsSync(join(git, "HEAD"))) writeFileSync(join(git, "HEAD"), "ref: refs/heads/none\n");
    const objects = objectsOf(root);
    writeFileSync(join(git, "objects/info/alternates"), objects === null ? "" : `${objects}\n`);
    if (objects !== null) linkPacks(join(objects, "pack"), join(git, "objects/pack"), this.#alone);
  }

  /** One after the other in one process; a file it cannot read ends it, and the rest is asked again. */
  #hashAll(root: string, paths: readonly string[]): [string, Buffer][] {
    const known: [string, Buffer][] = [];
    for (let at = 0, ends = 0; at < paths.length && ends < 100; ends += 1) {
      const rest = paths.slice(at);
      const input = Buffer.from(`${rest.join("\n")}\n`, "latin1");
      const args = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
      const lines = this.#run(args, { cwd: root, input, anyStatus: true })?.toString("latin1").split("\n") ?? [];
      const oids = lines.filter((line) => /^[0-9a-f]{40}$/.test(line));
      for (const [i, oid] of oids.entries()) known.push([rest[i]!, Buffer.from(oid, "hex")]);
      at += oids.length;
      if (at < paths.length) {
        known.push([paths[at]!, NO_OID]);
        at += 1;
      }
    }
    return known;
  }

  #keepOne(root: string, path: string): Buffer {
    try {
      const bytes = readFileSync(onDisk(join(root, pathFrom(path))));
      const oid = oidOf(bytes);
      const copy = join(this.#folder, "copies", oid.toString("hex"));
      if (!existsSync(copy)) writeFileSync(copy, bytes, { mode: 0o600 });
      return oid;
    } catch {
      return NO_OID;
    }
  }

  #run(
    args: readonly string[],
    { cwd = this.#folder, input, anyStatus = false }: { cwd?: string; input?: Buffer; anyStatus?: boolean } = {},
  ): Buffer | null {
    const { status, stdout } = spawnSync("git", args, {
      cwd,
      ...(input === undefined ? {} : { input }),
      env: {
        PATH: process.env.PATH,
        GIT_DIR: join(this.#folder, "git"),
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CONFIG_GLOBAL: "/dev/null",
      },
      maxBuffer: 1 << 30,
      stdio: ["pipe", "pipe", "ignore"],
    });
    return status === 0 || (anyStatus && stdout !== null) ? stdout : null;
  }
}

/** Where a work tree's repository keeps its objects; a linked one says where in two files. */
function objectsOf(root: string): string | null {
  const dot = join(root, ".git");
  const entry = statSync(dot, { throwIfNoEntry: false });
  if (entry === undefined) return null;
  const named = entry.isFile() ? /^gitdir: (.+)$/m.exec(readFileSync(dot, "utf8"))?.[1] : undefined;
  const git = entry.isDirectory() ? dot : named === undefined ? null : resolve(root, named);
  if (git === null) return null;
  const common = join(git, "commondir");
  const objects = join(existsSync(common) ? resolve(git, readFileSync(common, "utf8").trim()) : git, "objects");
  return existsSync(objects) ? objects : null;
}

/** A pack is never written to; a second name keeps it when the first is taken away. */
function linkPacks(from: string, to: string, alone: boolean): void {
  const names = existsSync(from) ? readdirSync(from).filter((name) => /^pack-\w+\.(?:pack|idx)$/.test(name)) : [];
  const have = new Set(readdirSync(to));
  for (const name of names) {
    if (have.has(name)) continue;
    try {
      linkSync(join(from, name), join(to, name));
    } catch {
      // Another disk, or a disk without links: they are still found where they are.
      return;
    }
  }
  if (!alone) return;
  for (const name of have)
    if (name.startsWith("pack-") && !names.includes(name)) rmSync(join(to, name), { force: true });
}
