// A bundle folder's vault and the manifest that mirrors it, written together. The vault comes first: if the process dies
// in between, the old mirror only makes credentials expire too early, never too late, and the next change puts it right.
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { manifestFile, readManifest } from "../../bundle/index.js";
import { fromSystemError, NutError, shellWord } from "../../errors.js";
import { type FileWrite, writeInFolder } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { sweepLeftovers } from "../../process/index.js";
import type { CredentialScope, Manifest } from "../../schema/manifest.js";
import type { Credential, Vault } from "../../schema/vault.js";
import { type Lock, openLock } from "../../state/index.js";
import {
  type BackendName,
  checkBackend,
  earliestExpiry,
  type Keys,
  type OpenedVault,
  openVault,
  sealVault,
  type Target,
  VAULT_PATH,
} from "../../vault/index.js";
import { lockOf, settleFolder, settleHeld, writeTogether } from "./both-or-neither.js";

export interface VaultFolder {
  readonly dir: string;
  readonly manifest: Manifest;
  /** Path of the vault inside the folder. */
  readonly path: string;
  /** null when there is no vault yet. */
  readonly bytes: Buffer | null;
  /** A file to lock while writing; outside the folder, so that it is never packed. null without a home. */
  readonly lock: string | null;
}

/** A write takes milliseconds; whoever holds the lock this long is stuck. */
const LOCK_WAIT_MS = 5_000;
const LOCK_PAUSE_MS = 5;

export function readVaultFolder(dir: string, env: Context["env"]): VaultFolder {
  settleFolder(dir, { env });
  const manifest = readManifest(dir);
  const path = manifest.credentials?.vault ?? VAULT_PATH;
  const file = insideFolder(dir, path);
  return { dir, manifest, path, bytes: existsSync(file) ? readRegular(file) : null, lock: lockOf(dir, env) };
}

/** The manifest may come from a stranger: its vault must lie in the folder, and not behind a link. */
function insideFolder(dir: string, path: string): string {
  const root = resolve(dir);
  const file = resolve(root, path);
  if (!file.startsWith(root + sep) || path.includes("\0")) {
    throw new NutError("BUNDLE_UNSAFE_PATH", `credentials.vault "${path}" leaves the bundle`, { data: { path } });
  }
  for (let at = file; at !== root; at = dirname(at)) {
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw new NutError("BUNDLE_UNSAFE_PATH", `credentials.vault "${path}" leads through a link`, { data: { path } });
    }
  }
  return file;
}

function readRegular(file: string): Buffer {
  try {
    if (!lstatSync(file).isFile())
      throw new NutError("FILE_UNREADABLE", `${file}: not a regular file`, { hint: `ls -ld ${shellWord(file)}` });
    return readFileSync(file);
  } catch (error) {
    throw fromSystemError(error, file) ?? error;
  }
}

export async function unlock(folder: VaultFolder, keys: Keys): Promise<OpenedVault> {
  if (folder.bytes === null) throw noVault(folder);
  return openVault(folder.bytes, folder.manifest.credentials?.encryption, keys);
}

export function noVault({ dir, path }: VaultFolder): NutError {
  return new NutError("VAULT_MISSING", `${join(dir, path)}: there is no vault here`, {
    hint: `nutshell add-credential --name '<name>' --type '<type>'${dirWords(dir)}`,
    data: { path },
  });
}

export interface VaultChange {
  readonly vault: Vault;
  readonly backend: BackendName;
  readonly target: Target;
  readonly keys: Keys;
  /** Further changes to the manifest, such as the publisher's key. */
  readonly manifest?: (manifest: Manifest) => Manifest;
  /** Files that are written with vault and manifest, or not at all. */
  readonly more?: (manifest: Manifest, bytes: Uint8Array) => readonly FileWrite[];
}

/** Writes the vault and its mirror. Refuses when somebody else changed the vault since it was read. */
export async function saveVault(folder: VaultFolder, change: VaultChange): Promise<VaultFolder> {
  const { vault, backend, target, keys } = change;
  const bytes = await sealVault(vault, backend, target, keys);
  return putVault(
    folder,
    bytes,
    (manifest) => {
      const mirrored = mirror(manifest, folder.path, vault, backend);
      return change.manifest?.(mirrored) ?? mirrored;
    },
    change.more,
  );
}

/**
 * Puts new vault bytes and the manifest in place; also for a rotation, whose vault we may not be able to open. One writer
 * at a time: whoever comes second finds the vault changed and is refused, and the manifest is the one that lies there now.
 * Returns the folder as it is afterwards.
 */
export async function putVault(
  folder: VaultFolder,
  bytes: Uint8Array,
  /** null leaves the manifest as it lies there. */
  update: ((manifest: Manifest) => Manifest) | null,
  /** Files that are written with both, or not at all. */
  more?: (manifest: Manifest, bytes: Uint8Array) => readonly FileWrite[],
): Promise<VaultFolder> {
  const file = insideFolder(folder.dir, folder.path);
  const lock = folder.lock === null ? null : openLock(folder.lock);
  await acquire(lock, file);
  try {
    if (folder.lock !== null) settleHeld(folder.lock);
    for (const place of new Set([dirname(file), folder.dir])) sweepLeftovers(place);
    const now = existsSync(file) ? readRegular(file) : null;
    if (digest(now) !== digest(folder.bytes)) throw changed(file);
    const manifest = update?.(readManifest(folder.dir)) ?? null;
    const vault: FileWrite = { path: file, data: bytes, mode: 0o600 };
    if (manifest === null) writeInFolder([vault]);
    else {
      const exported = more?.(manifest, bytes) ?? [];
      writeTogether({ vault, manifest: manifestFile(folder.dir, manifest), exported }, folder.lock);
    }
    return { ...folder, manifest: manifest ?? folder.manifest, bytes: Buffer.from(bytes) };
  } finally {
    lock?.release();
  }
}

async function acquire(lock: Lock | null, file: string): Promise<void> {
  if (lock === null) return;
  for (let waited = 0; !lock.tryAcquire(); waited += LOCK_PAUSE_MS) {
    if (waited >= LOCK_WAIT_MS) throw changed(file);
    await sleep(LOCK_PAUSE_MS);
  }
}

function changed(file: string): NutError {
  return new NutError("VAULT_CHANGED", `${file}: changed by somebody else in the meantime; nothing was written`, {
    hint: "run the command again",
  });
}

function digest(bytes: Uint8Array | null): string {
  return bytes === null ? "" : createHash("sha256").update(bytes).digest("hex");
}

/** The manifest with `credentials` in step with the vault: names, types, access, limits and expiry; never values. */
function mirror(manifest: Manifest, path: string, vault: Vault, backend: BackendName): Manifest {
  const old = manifest.credentials?.scopes ?? [];
  const scopes = vault.credentials.map((credential) =>
    scopeOf(
      credential,
      vault,
      old.find(({ name }) => name === credential.name),
    ),
  );
  return { ...manifest, credentials: { ...manifest.credentials, vault: path, encryption: backend, scopes } };
}

function scopeOf(credential: Credential, vault: Vault, old: CredentialScope | undefined): CredentialScope {
  const { expires_at: _expires, revoked_at: _revoked, ...kept } = old ?? { name: "", type: "" };
  const limit = credential.restrictions?.rate_limit;
  const expires = earliestExpiry([vault.expires_at, credential.expires_at]);
  return {
    ...kept,
    name: credential.name,
    type: credential.type,
    ...(kept.access_level === undefined ? accessLevel(credential.scopes) : {}),
    ...(typeof limit === "string" ? { rate_limit: limit } : {}),
    ...(expires === null ? {} : { expires_at: expires }),
    ...(credential.revoked_at === undefined ? {} : { revoked_at: credential.revoked_at }),
  };
}

/** `["read", "write"]` reads `read-write`. */
function accessLevel(scopes: readonly string[] | undefined): { access_level?: string } {
  return scopes === undefined || scopes.length === 0 ? {} : { access_level: scopes.join("-") };
}

/** Which backend the folder's vault is of, without opening it; null without a vault. */
export function backendOf({ bytes, manifest }: VaultFolder): BackendName | null {
  return bytes === null ? null : checkBackend(bytes, manifest.credentials?.encryption);
}

/** ` --dir my-task`, for commands that are suggested; nothing for the folder one is in. */
export function dirWords(dir: string | undefined): string {
  return dir === undefined || dir === "." ? "" : ` --dir ${shellWord(dir)}`;
}
