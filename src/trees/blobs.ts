// The bytes of files as they were, by git's own name for them (SHA-1 of a blob). Where there is a repository, what is in its
// packs costs nothing: they are linked into a store of our own, which no agent works in; only what git does not have is
// written. Without git, bytes are copied.
import { type StdioOptions, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism } from "node:os";
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

  /** One after the other, in a process for each processor; a file that one cannot read ends it, and the rest is asked again. */
  #hashAll(root: string, paths: readonly string[]): [string, Buffer][] {
    const known: [string, Buffer][] = [];
    let parts = partsOf(paths);
    for (let ends = 0; parts.length > 0 && ends < 100; ends += 1) {
      const answers = this.#hashParts(root, parts);
      parts = parts.flatMap((part, at) => {
        const oids = answers[at]!;
        for (const [i, oid] of oids.entries()) known.push([part[i]!, Buffer.from(oid, "hex")]);
        if (oids.length === part.length) return [];
        known.push([part[oids.length]!, NO_OID]);
        return oids.length + 1 < part.length ? [part.slice(oids.length + 1)] : [];
      });
    }
    return known;
  }

  /** Through files: git writes each name by itself, and reading a hundred thousand pieces takes longer than hashing. */
  #hashParts(root: string, parts: readonly (readonly string[])[]): string[][] {
    const folder = mkdtempSync(join(this.#folder, "hash-"));
    try {
      const places = parts.map((_, at) => join(folder, String(at)));
      for (const [at, part] of parts.entries()) {
        writeFileSync(`${places[at]}.in`, Buffer.from(`${part.join("\n")}\n`, "latin1"));
        writeFileSync(`${places[at]}.out`, "");
      }
      if (places.length === 1) this.#hashPart(root, places[0]!);
      else spawnSync("/bin/sh", ["-c", HASH_PARTS, "sh", ...places], this.#world(root, "ignore", "ignore"));
      return places.map((place) => {
        const lines = readFileSync(`${place}.out`, "latin1").split("\n");
        return lines.filter((line) => /^[0-9a-f]{40}$/.test(line));
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  #hashPart(root: string, place: string): void {
    const [from, to] = [openSync(`${place}.in`, "r"), openSync(`${place}.out`, "w")];
    try {
      spawnSync("git", HASH, this.#world(root, from, to));
    } finally {
      for (const file of [from, to]) closeSync(file);
    }
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

  #run(args: readonly string[]): Buffer | null {
    const { status, stdout } = spawnSync("git", args, this.#world(this.#folder, "ignore", "pipe"));
    return status === 0 ? (stdout as Buffer) : null;
  }

  #world(cwd: string, from: "ignore" | number, to: "ignore" | "pipe" | number) {
    return {
      cwd,
      env: {
        PATH: process.env.PATH,
        GIT_DIR: join(this.#folder, "git"),
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CONFIG_GLOBAL: "/dev/null",
      },
      maxBuffer: 1 << 30,
      stdio: [from, to, "ignore"] satisfies StdioOptions,
    };
  }
}

const HASH = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
const HASH_PARTS = `for part; do git ${HASH.join(" ")} <"$part.in" >"$part.out" & done; wait`;

/** As many as are hashed while another process starts. */
const FEW = 1_000;

function partsOf(paths: readonly string[]): string[][] {
  if (paths.length === 0) return [];
  const most = process.platform === "win32" ? 1 : availableParallelism();
  const each = Math.max(FEW, Math.ceil(paths.length / most));
  return Array.from({ length: Math.ceil(paths.length / each) }, (_, at) => paths.slice(at * each, (at + 1) * each));
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
