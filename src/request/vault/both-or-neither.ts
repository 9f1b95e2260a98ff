// A vault and the file exported with it, both or neither, also when the process ends between two renames. What lay there and
// what comes is noted before anything is moved, beside the lock and not in the folder, which may be a stranger's. The exported
// file is moved last: if it is there, the change was made; if not, whoever opens the folder next puts the old vault back.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { manifestFile, parseManifest, readManifest } from "../../bundle/index.js";
import { isSystemError } from "../../errors.js";
import { atomicWrite, clearAway, type FileWrite, replaceFiles, writeInFolder } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { sweepLeftovers } from "../../process/index.js";
import { openLock } from "../../state/index.js";
import { defaultPeerPath, hasHome } from "./keys.js";

/** What is locked while a folder's vault is written: outside the folder, so that it is never packed. null without a home. */
export function lockOf(dir: string, env: Context["env"]): string | null {
  if (!hasHome(env)) return null;
  return join(dirname(defaultPeerPath(env)), "locks", `${sha256(realpathSync(dir)).slice(0, 32)}.lock`);
}

/** Old and new content in base64. */
const Change = z.object({ path: z.string(), before: z.string(), after: z.string() });
const Receipt = z.object({
  vault: Change,
  manifest: Change,
  exported: z.array(z.object({ path: z.string(), sha256: z.string() })).min(1),
});
type Receipt = z.output<typeof Receipt>;

export interface Together {
  readonly vault: FileWrite;
  readonly manifest: FileWrite;
  readonly exported: readonly FileWrite[];
}

/** Writes all of it or nothing. Whoever calls holds the lock; without one there is no place for the note either. */
export function writeTogether({ vault, manifest, exported }: Together, lock: string | null): void {
  const writes = [vault, manifest, ...exported];
  if (lock === null || exported.length === 0) {
    writeInFolder(writes);
    return;
  }
  const path = receiptOf(lock);
  const receipt: Receipt = {
    vault: changeOf(vault),
    manifest: changeOf(manifest),
    exported: exported.map((file) => ({ path: file.path, sha256: sha256(Buffer.from(file.data)) })),
  };
  for (const file of exported) sweepLeftovers(dirname(file.path));
  atomicWrite(path, JSON.stringify(receipt), { mode: 0o600 });
  try {
    writeInFolder(writes);
  } catch (error) {
    settleHeld(lock);
    throw error;
  }
  clearAway(path);
}

/** Ends what a process that is gone left half done in a folder. One that is still at work holds the lock, and is left alone. */
export function settleFolder(dir: string, { env }: Pick<Context, "env">): void {
  const lock = existsSync(dir) ? lockOf(dir, env) : null;
  if (lock === null || !existsSync(receiptOf(lock))) return;
  const held = openLock(lock);
  if (!held.tryAcquire()) return;
  try {
    settleHeld(lock);
  } finally {
    held.release();
  }
}

/** The same for whoever holds the lock. A disk that takes nothing leaves the note for the next one. */
export function settleHeld(lock: string): void {
  const path = receiptOf(lock);
  sweepLeftovers(dirname(path));
  const receipt = readReceipt(path);
  if (receipt !== null) {
    const isDone = receipt.exported.every((file) => sha256(contentOf(file.path)) === file.sha256);
    try {
      putBack(receipt, isDone ? "after" : "before");
    } catch (error) {
      if (isSystemError(error)) return;
      throw error;
    }
  }
  clearAway(path);
}

type Side = "before" | "after";
const OTHER = { before: "after", after: "before" } as const;

/** A vault that is neither is somebody's own doing since; then nothing is touched. */
function putBack({ vault, manifest }: Receipt, side: Side): void {
  const now = contentOf(vault.path).toString("base64");
  if (now !== vault[side] && now !== vault[OTHER[side]]) return;
  const writes = [...(now === vault[side] ? [] : [vaultAs(vault, side)]), ...manifestAs(manifest, side)];
  if (writes.length > 0) replaceFiles(writes);
}

const vaultAs = (change: Receipt["vault"], side: Side): FileWrite => ({
  path: change.path,
  data: Buffer.from(change[side], "base64"),
  mode: 0o600,
});

/** A manifest that was edited since keeps the edit; what it says of credentials follows the vault. */
function manifestAs(change: Receipt["manifest"], side: Side): FileWrite[] {
  const now = contentOf(change.path).toString("base64");
  if (now === change[side]) return [];
  const wanted = Buffer.from(change[side], "base64");
  if (now === change[OTHER[side]]) return [{ path: change.path, data: wanted }];
  const { credentials } = parseManifest(wanted);
  return [manifestFile(dirname(change.path), { ...readManifest(dirname(change.path)), credentials })];
}

const receiptOf = (lock: string) => join(dirname(lock), `${basename(lock, ".lock")}.receipt.json`);

/** One that is not whole was never in force: it is put in place by a rename. */
function readReceipt(path: string): Receipt | null {
  if (!existsSync(path)) return null;
  try {
    const parsed = Receipt.safeParse(JSON.parse(readFileSync(path, "utf8")));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

const changeOf = ({ path, data }: FileWrite) => ({
  path,
  before: contentOf(path).toString("base64"),
  after: Buffer.from(data).toString("base64"),
});

/** Empty for what is not there. */
function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isSystemError(error) && error.code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
