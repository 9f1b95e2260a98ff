// What a set-up changes, written before it does, kept outside the project and outside the host, so that it can be undone to the byte.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { z } from "zod";
import { atomicWrite, makeFolder } from "../../../files/index.js";

const ReceiptFile = z.object({
  path: z.string(),
  /** The file as it was; null when there was none. */
  before: z.string().nullable(),
  /** Digest of what we left there. */
  after: z.string(),
  /** What we left there before, while a change was under way: it may still be there when that was killed. */
  until: z.string().optional(),
});
const Receipt = z.object({
  host: z.string(),
  scope: z.enum(["user", "project"]),
  root: z.string(),
  version: z.string(),
  files: z.array(ReceiptFile),
  /** Folders we made, outermost first. */
  folders: z.array(z.string()),
});
export type Receipt = z.infer<typeof Receipt>;

export const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

export function receiptPath(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  key: { host: string; scope: string; root: string },
): string {
  const base = env.XDG_STATE_HOME || join(home, ".local/state");
  const name = `${key.host}-${key.scope}-${digest(key.scope === "user" ? "" : key.root).slice(0, 12)}.json`;
  return join(base, "nutcracker/setup", name);
}

/** null when nothing was set up, or when what is there cannot be understood: undoing then goes by our marks alone. */
export function readReceipt(path: string): Receipt | null {
  if (!existsSync(path)) return null;
  try {
    return Receipt.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return null;
  }
}

/**
 * The receipt of a project that has another name by now: its folder is gone, and all that was left in it lies here as it was left.
 * null when there is none, or more than one, since set-up leaves the same in many projects.
 */
export function movedReceipt(
  path: string,
  { host, root }: { readonly host: string; readonly root: string },
): { readonly receipt: Receipt; readonly path: string } | null {
  const folder = dirname(path);
  if (!existsSync(folder)) return null;
  const found = readdirSync(folder).flatMap((name) => {
    if (!name.startsWith(`${host}-project-`) || !name.endsWith(".json")) return [];
    const place = join(folder, name);
    const receipt = readReceipt(place);
    if (receipt === null || receipt.files.length === 0 || existsSync(receipt.root)) return [];
    // What a link leads to lies elsewhere, and still does.
    const here = (one: string) =>
      one.startsWith(`${receipt.root}${sep}`) ? join(root, relative(receipt.root, one)) : one;
    const files = receipt.files.map((file) => ({ ...file, path: here(file.path) }));
    const isHere = files.every((file) => isAt(file.path) && isLeft(readFileSync(file.path, "utf8"), file));
    return isHere ? [{ path: place, receipt: { ...receipt, root, files, folders: receipt.folders.map(here) } }] : [];
  });
  return found.length === 1 ? found[0]! : null;
}

const isAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Whether some project is set up on this machine, as the receipts beside this one say. */
export const projectsSetUp = (path: string): boolean =>
  existsSync(dirname(path)) && readdirSync(dirname(path)).some((name) => /^[a-z]+-project-[\da-f]+\.json$/.test(name));

/** Settings may hold secrets, and the receipt holds what they were. */
export function writeReceipt(path: string, receipt: Receipt): void {
  makeFolder(dirname(path), 0o700);
  atomicWrite(path, `${JSON.stringify(receipt, null, 2)}\n`, { mode: 0o600 });
}

/** Whether a text is what a receipt says we left. */
export const isLeft = (text: string, { after, until }: Receipt["files"][number]): boolean => {
  const now = digest(text);
  return now === after || now === until;
};

export function dropReceipt(path: string): void {
  rmSync(path, { force: true });
}
