// Groups of flags that several commands share, so that one word means one thing in all of them.
import { basename } from "node:path";
import { z } from "zod";
import { flag, positional } from "../../cli/fields.js";
import { NutError, shellWord } from "../../errors.js";

/** `--dir` as every command on a folder takes it. */
export const DIR = {
  dir: flag(z.string().min(1).optional(), {
    short: "d",
    value: "<dir>",
    about: "the task's folder (default: here)",
  }),
};

/** The key of a command that only looks at a bundle. */
export const SEALED_IDENTITY = {
  identity: flag(z.array(z.string()).default([]), {
    short: "i",
    value: "<file>",
    about: "Ed25519 identity that opens a sealed bundle (default: your own)",
  }),
};

/** The keys of one command, for the next one. */
export const identityWords = (identity: readonly string[] = []): string =>
  identity.map((file) => ` --identity ${shellWord(file)}`).join("");

/** A packed bundle is not edited: whatever it lacks, the first step is the same. */
export function unpackFirst(bundle: string | undefined): string {
  if (bundle === undefined || bundle === "-") return "nutshell unpack - -o '<dir>'";
  return `nutshell unpack ${shellWord(bundle)} -o ${shellWord(basename(bundle).replace(/\.nut$/, ""))}`;
}

/** A folder named by position or by --dir. */
export const FOLDER_OR_DIR = {
  folder: positional(z.string().min(1).optional(), { name: "dir", about: "the task's folder" }),
  ...DIR,
};

/** The folder that was meant, by whichever way it was named; not by both. */
export function namedFolder({ dir, folder }: { dir?: string | undefined; folder?: string | undefined }) {
  if (dir !== undefined && folder !== undefined && dir !== folder) {
    throw new NutError("USAGE", `two folders are named: ${folder} and ${dir}`, {
      hint: "name one of them: --dir and the folder itself say the same",
    });
  }
  return folder ?? dir;
}
