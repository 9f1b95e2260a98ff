// The work of a delivery as git knows it: one commit on the commit it began with, and the same as a mail that plain
// `git am` applies. Made from the trees themselves, never from a patch somebody wrote.
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compareTrees, deliverable } from "../../acceptance/index.js";
import { type Finding, isSystemError } from "../../errors.js";
import type { Delivery } from "../../schema/delivery.js";
import type { GitWorld } from "../../trees/git/git.js";
import { commitMessage } from "../../trees/git/message.js";
import { type Author, GitStore } from "../../trees/git/store.js";
import type { ResultChange } from "../../trees/result-tree.js";
import type { FoundBase } from "./repository-base.js";

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

export interface PatchQuestion {
  readonly delivery: Delivery;
  /** The unpacked delivery. */
  readonly dir: string;
  readonly base: Pick<FoundBase, "folder" | "repository">;
  /** Folder with the tree after the work. */
  readonly result: string;
  readonly scratch: string;
}

/** A patch is what somebody may apply without us, so it must say what the artifacts say. */
export async function patchFindings(question: PatchQuestion, world: GitWorld): Promise<Finding[]> {
  const { delivery, dir, base, scratch } = question;
  if (delivery.patch === undefined) return [];
  const finding = (severity: Finding["severity"], code: string, message: string): Finding[] => [
    { code, severity, path: "patch", message },
  ];
  const file = join(dir, delivery.patch);
  if (delivery.patch !== PATCH_FILE || lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
    return finding("error", "ARTIFACT_MISSING", `${delivery.patch} is named as the patch, but not delivered`);
  }
  if (base.repository === null) {
    return finding(
      "warning",
      "PATCH_UNCHECKED",
      "the patch was not compared with the artifacts: its commit is not here",
    );
  }
  const { path: repo, commit } = base.repository;
  const store = await GitStore.open({ repo, scratch }, world);
  const changes = deliverable(compareTrees(base.folder, question.result));
  const work = { store, base: { commit, folder: base.folder }, result: question.result, changes, delivery };
  const made = await store.treeOf(await workCommit({ ...work, title: "", at: new Date(0) }));
  if ((await store.treeAfter(commit, file)) === made) return [];
  return finding("error", "PATCH_DIFFERS", `${PATCH_FILE} says something else than the artifacts`);
}

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
