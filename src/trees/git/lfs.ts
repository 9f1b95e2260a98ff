// Files that Git LFS keeps elsewhere: a commit holds pointers in their place, and only git-lfs itself, as the person who
// installed it lets it, turns one into the other.
import { closeSync, openSync, readSync } from "node:fs";
import { type GitWorld, rows } from "./git.js";
import { askRepository } from "./repository.js";

/** Its specification asks for less than 1024 bytes. */
const POINTER_BYTES = 1_024;
const POINTER = "version https://git-lfs.github.com/spec/v1\n";

/** Files that are pointers in a commit. */
export async function lfsPointers(repo: string, commit: string, world: GitWorld): Promise<string[]> {
  const ask = async (args: readonly string[]) => rows((await askRepository(repo, args, { fine: [0, 1] }, world)).out);
  const find = (text: string) => ["grep", "-z", "-l", "-F", "-e", text, commit, "--"];
  // Most repositories end here, without a look at every file.
  if ((await ask([...find("filter=lfs"), ":(glob)**/.gitattributes"])).length === 0) return [];
  const small = new Set(
    (await ask(["ls-tree", "-r", "-l", "-z", commit])).flatMap((row) => {
      const [about = "", path = ""] = row.split(/\t(.*)/s);
      return Number(about.trim().split(/\s+/).at(-1)) < POINTER_BYTES ? [path] : [];
    }),
  );
  const found = (await ask(find(POINTER.trim()))).map((row) => row.slice(commit.length + 1));
  return found.filter((path) => small.has(path));
}

/** Of these paths those that the repository gives to Git LFS, and whose file is no pointer. */
export async function unpointed(
  repo: string,
  paths: readonly string[],
  fileOf: (path: string) => string,
  world: GitWorld,
): Promise<string[]> {
  if (paths.length === 0) return [];
  const options = { stdin: paths.map((path) => `${path}\0`).join("") };
  const { out } = await askRepository(repo, ["check-attr", "-z", "--stdin", "filter"], options, world);
  const words = out.split("\0");
  return paths.filter((path, at) => words[at * 3 + 2] === "lfs" && !isPointer(fileOf(path)));
}

function isPointer(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(POINTER.length);
    return head.subarray(0, readSync(file, head)).toString("latin1") === POINTER;
  } finally {
    closeSync(file);
  }
}

/** A list for a sentence. */
export function some(paths: readonly string[]): string {
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : "";
  return `${paths.slice(0, 3).join(", ")}${more}`;
}
