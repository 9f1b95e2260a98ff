// A commit of a local clone as files, with a patch of tests over it. The clone is only read: an index of our own says what
// is checked out, into a folder that is gone afterwards.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NutError, shellWord } from "../errors.js";
import { type Environment, runChild } from "../process/index.js";
import { readSourceFolder, type SourceFolder } from "./source-folder.js";

export interface CommitTree {
  readonly clone: string;
  readonly commit: string;
  /** Applied to the files; null leaves them. */
  readonly patch: string | null;
  readonly env: Environment;
  readonly signal: AbortSignal;
}

const PATIENCE_MS = 120_000;

/** Throws BASE_UNKNOWN for a commit the clone does not have, and IMPORT_UNFIT for a patch that does not fit. */
export async function readCommitTree({ clone, commit, patch, env, signal }: CommitTree): Promise<SourceFolder> {
  const folder = mkdtempSync(join(tmpdir(), "nutshell-import-"));
  const tree = join(folder, "tree");
  const index = { GIT_INDEX_FILE: join(folder, "index") };
  const git = (cwd: string, args: readonly string[], more: Environment = {}) =>
    runChild({
      command: "git",
      args,
      cwd,
      env: { ...env, GIT_TERMINAL_PROMPT: "0", ...more },
      timeoutMs: PATIENCE_MS,
      signal,
    });
  try {
    const read = await git(clone, ["read-tree", `${commit}^{tree}`], index);
    if (read.code !== 0) {
      throw new NutError("BASE_UNKNOWN", `${clone} does not have commit ${commit.slice(0, 12)}`, {
        hint: `git -C ${shellWord(clone)} fetch origin ${commit}`,
        data: { path: clone, commit },
      });
    }
    await git(clone, ["checkout-index", "--all", `--prefix=${tree}/`], index);
    if (patch !== null) {
      writeFileSync(join(folder, "patch"), patch);
      const applied = await git(tree, ["apply", "--whitespace=nowarn", join(folder, "patch")], {
        GIT_CEILING_DIRECTORIES: folder,
      });
      if (applied.code !== 0) {
        throw new NutError(
          "IMPORT_UNFIT",
          `the row's tests do not fit commit ${commit.slice(0, 12)}: ${applied.stderr.text.trim().split("\n")[0]}`,
          {
            hint: "is it a clone of the row's own repository?",
          },
        );
      }
    }
    return readSourceFolder(tree);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
