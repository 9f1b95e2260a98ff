import type { Flag, Positional, Values } from "../../cli/command.js";
import { NutError } from "../../errors.js";

/** `--dir` as every command on a folder takes it. */
export const DIR: Readonly<Record<"dir", Flag>> = {
  dir: { short: "d", value: "<dir>", about: "the task's folder (default: here)" },
};

export const FOLDER: Positional = { name: "dir", field: "folder", optional: true, about: "the task's folder" };

/** A folder may be named by position or by --dir, not by both. */
export function folderInput({ dir, folder, ...values }: Values): Values {
  if (dir !== undefined && folder !== undefined && dir !== folder) {
    throw new NutError("USAGE", `two folders are named: ${String(folder)} and ${String(dir)}`, {
      hint: "nutshell check <dir>",
    });
  }
  return { ...values, folder: folder ?? dir };
}
