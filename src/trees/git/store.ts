// A private place in which git works with a repository's objects and with nothing else of it: no settings, no hooks, no
// index, no work tree of the person. Trees are checked out of it, and what was done becomes a commit and a patch in it.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NutError, shellWord } from "../../errors.js";
import { bareGit, type GitAnswer, type GitWorld } from "./git.js";
import { asSafe, objectsOf, submodules, tellPartial } from "./repository.js";

export interface Author {
  readonly name: string;
  readonly email: string;
}

export interface Work {
  /** The commit the work began with. */
  readonly base: string;
  /** Folder that holds the whole tree after the work. */
  readonly result: string;
  /** What changed, created and deleted files included. */
  readonly paths: readonly string[];
  readonly message: string;
  readonly author: Author;
  readonly committer?: Author;
  readonly at: Date;
}

interface StoreInput {
  /** The repository whose objects are seen. */
  readonly repo: string;
  /** A folder of ours to work in. */
  readonly scratch: string;
  /** New objects are kept in the repository, where they are garbage until something names them. */
  readonly keep?: boolean;
}

/** Names that another file system would take for `.git` are refused on every system. */
const CAREFUL = ["-c", "core.protectHFS=true", "-c", "core.protectNTFS=true", "-c", "core.fileMode=true"];

export class GitStore {
  readonly #repo: string;
  readonly #folder: string;
  readonly #objects: string | null;
  readonly #world: GitWorld;

  private constructor(repo: string, folder: string, objects: string | null, world: GitWorld) {
    this.#repo = repo;
    this.#folder = folder;
    this.#objects = objects;
    this.#world = world;
  }

  static async open({ repo, scratch, keep = false }: StoreInput, world: GitWorld): Promise<GitStore> {
    mkdirSync(scratch, { recursive: true });
    const folder = mkdtempSync(join(scratch, "git-"));
    const { folder: objects, format } = await objectsOf(repo, world);
    await bareGit(
      ["init", "--quiet", "--bare", "--template=", `--object-format=${format}`, folder],
      { cwd: scratch },
      world,
    );
    mkdirSync(join(folder, "objects", "info"), { recursive: true });
    mkdirSync(join(folder, "info"), { recursive: true });
    if (!keep) writeFileSync(join(folder, "objects", "info", "alternates"), `${quotedPath(objects)}\n`);
    return new GitStore(repo, folder, keep ? objects : null, world);
  }

  #git(args: readonly string[], workTree: string, stdin?: string, fine?: readonly number[]): Promise<GitAnswer> {
    const variables = {
      GIT_DIR: this.#folder,
      GIT_WORK_TREE: workTree,
      GIT_INDEX_FILE: join(this.#folder, "index"),
      GIT_LITERAL_PATHSPECS: "1",
      ...(this.#objects === null ? {} : { GIT_OBJECT_DIRECTORY: this.#objects }),
    };
    const options = { cwd: workTree, variables, ...(stdin === undefined ? {} : { stdin }), ...(fine ? { fine } : {}) };
    return bareGit([...CAREFUL, ...asSafe(this.#folder), ...args], options, this.#world);
  }

  /** Writes the tree of a commit into a new folder. */
  async checkout(commit: string, target: string): Promise<void> {
    mkdirSync(target, { recursive: true });
    try {
      await this.#git(["read-tree", commit], target);
      await this.#git(["checkout-index", "--all", "--force", "--quiet"], target);
    } catch (error) {
      throw await tellPartial(error, this.#repo, this.#world);
    }
  }

  /** The work as one commit on its base. Throws REPOSITORY_FAILED for what no repository can hold. */
  async commit({ base, result, paths, message, author, committer = author, at }: Work): Promise<string> {
    await this.#assertNoSubmodule(base, paths);
    await this.#git(["read-tree", base], result);
    if (paths.length > 0) {
      const list = paths.map((path) => `${path}\0`).join("");
      // `git add` would hold every file against every path.
      await this.#git(["update-index", "--add", "--remove", "--replace", "-z", "--stdin"], result, list);
    }
    const tree = (await this.#git(["write-tree"], result)).out.trim();
    const when = `@${Math.floor(at.getTime() / 1000)} +0000`;
    const identity = [
      ...["-c", `author.name=${author.name}`, "-c", `author.email=${author.email}`],
      ...["-c", `committer.name=${committer.name}`, "-c", `committer.email=${committer.email}`],
    ];
    const file = join(this.#folder, "message");
    writeFileSync(file, message);
    const answer = await bareGit(
      [...identity, "commit-tree", tree, "-p", base, "-F", file],
      {
        cwd: result,
        variables: {
          GIT_DIR: this.#folder,
          GIT_AUTHOR_DATE: when,
          GIT_COMMITTER_DATE: when,
          ...(this.#objects === null ? {} : { GIT_OBJECT_DIRECTORY: this.#objects }),
        },
      },
      this.#world,
    );
    return answer.out.trim();
  }

  /** A file below a submodule would take the submodule's place in the commit. */
  async #assertNoSubmodule(base: string, paths: readonly string[]): Promise<void> {
    const known = paths.length === 0 ? [] : await submodules(this.#repo, base, this.#world);
    for (const folder of known) {
      const path = paths.find((one) => one === folder || one.startsWith(`${folder}/`));
      if (path === undefined) continue;
      throw new NutError(
        "REPOSITORY_FAILED",
        `${path} lies in the submodule ${folder}, which is a repository of its own`,
        {
          hint: `git submodule status -- ${shellWord(folder)}`,
          data: { path, submodule: folder },
        },
      );
    }
  }

  async treeOf(commit: string): Promise<string> {
    return (await this.#git(["rev-parse", "--verify", `${commit}^{tree}`], this.#folder)).out.trim();
  }

  /** The last commit as a mail that plain `git am` applies. `asBytes` are paths whose lines a mail would not keep. */
  async patch(commit: string, asBytes: readonly string[]): Promise<Buffer> {
    const attributes = asBytes.map((path) => `${attributePattern(path)} -diff -text\n`).join("");
    writeFileSync(join(this.#folder, "info", "attributes"), attributes);
    const folder = mkdtempSync(join(this.#folder, "patch-"));
    const flags = ["--binary", "--full-index", "--no-renames", "--no-stat", "--no-signature", "--zero-commit"];
    await this.#git(["format-patch", "--quiet", ...flags, "-1", "-o", folder, commit], this.#folder);
    writeFileSync(join(this.#folder, "info", "attributes"), "");
    const [file] = readdirSync(folder);
    return file === undefined ? Buffer.alloc(0) : readFileSync(join(folder, file));
  }

  /** The tree a patch makes of a commit; null when it does not apply. */
  async treeAfter(base: string, patch: string): Promise<string | null> {
    await this.#git(["read-tree", base], this.#folder);
    const args = ["apply", "--cached", "--binary", "--whitespace=nowarn", patch];
    const { code } = await this.#git(args, this.#folder, undefined, [0, 1, 128]);
    return code === 0 ? (await this.#git(["write-tree"], this.#folder)).out.trim() : null;
  }
}

/** In an alternates file, a name in double quotes is read with C escapes. */
function quotedPath(path: string): string {
  if (path.includes("\n")) {
    throw new NutError("REPOSITORY_FAILED", `${path}: git cannot be given a folder with a line break in its name`, {
      hint: "mv '<folder>' '<another name>'",
    });
  }
  return `"${path.replace(/[\\"]/g, "\\$&")}"`;
}

/** A pattern that fits this path alone. */
function attributePattern(path: string): string {
  const plain = `/${path}`.replace(/[\\*?[\]]/g, "\\$&");
  return `"${plain.replace(/[\\"]/g, "\\$&")}"`;
}
