// The work of a delivery as git knows it: one commit on the commit it began with, and the same as a mail that plain
// `git am` applies. Made from the trees themselves, never from a patch somebody wrote.
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isSystemError } from "../errors.js";
import type { Delivery } from "../schema/delivery.js";
import { commitMessage } from "../trees/git/message.js";
import type { Author, GitStore } from "../trees/git/store.js";
import type { ResultChange } from "../trees/result-tree.js";

export const PATCH_FILE = "delivery/changes.patch";

export interface PatchInput {
  readonly store: GitStore;
  /** The commit the work began with, and a folder with its tree. */
  readonly base: { readonly commit: string; readonly folder: string };
  /** Folder with the tree after the work. */
  readonly result: string;
  readonly changes: readonly ResultChange[];
  readonly delivery: Delivery;
  readonly title: string | undefined;
  readonly at: Date;
  readonly author?: Author;
  readonly committer?: Author;
}

/** The work as a commit in the store. */
export function workCommit(input: PatchInput): Promise<string> {
  const { store, base, result, changes, delivery, title, at, committer } = input;
  return store.commit({
    base: base.commit,
    result,
    paths: changes.flatMap(({ path, folder }) => (folder === true ? [] : [path])),
    message: messageOf(delivery, title),
    author: input.author ?? authorOf(delivery),
    ...(committer === undefined ? {} : { committer }),
    at,
  });
}

/** The same as a mail. */
export async function workPatch(input: PatchInput): Promise<Buffer> {
  const commit = await workCommit(input);
  const { base, result, changes } = input;
  const broken = changes.filter(({ path }) => [base.folder, result].some((root) => losesLines(join(root, path))));
  return input.store.patch(
    commit,
    broken.map(({ path }) => path),
  );
}

export function writePatch(folder: string, patch: Buffer): void {
  mkdirSync(join(folder, "delivery"), { recursive: true });
  writeFileSync(join(folder, PATCH_FILE), patch);
}

const messageOf = ({ id, request_id: request, summary, execution_log: log }: Delivery, title = ""): string =>
  commitMessage({
    title,
    summary,
    decisions: log?.decisions,
    trailers: { "Nutshell-Request": request, "Nutshell-Delivery": id },
  });

/** A name as git can hold it, at an address nobody has. */
export function authorOf({ deliverer }: Delivery): Author {
  const name =
    (deliverer?.name ?? "")
      .replace(/[<>\p{Cc}]+/gu, " ")
      .trim()
      .slice(0, 100) || "delivery";
  const word =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "") || "delivery";
  return { name, email: `${word}@nutshell.invalid` };
}

/** Larger files are carried as bytes. */
const MAX_LINES_BYTES = 16 * 1024 ** 2;

/** Mail turns line ends of two bytes into one, so such a file travels as bytes. */
function losesLines(path: string): boolean {
  try {
    const stats = lstatSync(path);
    return stats.isFile() && (stats.size > MAX_LINES_BYTES || readFileSync(path).includes("\r\n"));
  } catch (error) {
    if (isSystemError(error) && ["ENOENT", "ENOTDIR"].includes(error.code)) return false;
    throw error;
  }
}
