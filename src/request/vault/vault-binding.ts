// A vault serves the checks it was packed with. Their digest lies inside the vault, where only those who can open it could
// change it: moved into another request, it does not fit, and nothing is handed out.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HIDDEN_FILE, planChecks } from "../../acceptance/index.js";
import { isObeyed, listFolder } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import { byBytes } from "../../files/index.js";
import type { Context } from "../../operation.js";
import type { Manifest } from "../../schema/manifest.js";
import type { Vault } from "../../schema/vault.js";
import { sealVault } from "../../vault/index.js";
import { readConsentRecord, strangerDigest } from "../records/consent-record.js";
import { collectKeys } from "./keys.js";
import { putVault, readVaultFolder, unlock } from "./vault-folder.js";

/** Digest of criteria, test scripts, hidden checks, endpoints and scopes. Of files, only what is packed and stays in place counts. */
export function vaultBinding(dir: string, manifest: Manifest): string {
  const { isOwnTest } = planChecks(dir, manifest);
  const endpoints = manifest.apis?.endpoints_spec ?? "apis/endpoints.json";
  const files = listFolder(dir)
    .entries.filter(
      ({ path, kind }) =>
        kind === "file" && !isObeyed(path) && (isOwnTest(path) || path === endpoints || path === HIDDEN_FILE),
    )
    .map(({ path }) => path)
    .sort(byBytes)
    .map((path) => [
      path,
      createHash("sha256")
        .update(readFileSync(join(dir, path)))
        .digest("hex"),
    ]);
  const scopes = (manifest.credentials?.scopes ?? []).map(({ name, type, access_level: access }) => [
    name,
    type,
    access,
  ]);
  const urls = Object.entries(manifest.apis?.base_urls ?? {});
  const parts = [files, scopes.sort(byName), urls.sort(byName)];
  return `sha256:${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}

const byName = ([a]: readonly unknown[], [b]: readonly unknown[]) => byBytes(String(a), String(b));

/** Throws VAULT_UNFIT for a vault of other checks; says in a sentence that one is bound to none. */
export function assertBound(vault: Vault, dir: string, manifest: Manifest): string | null {
  const { binding } = vault;
  if (binding === undefined && manifest.credentials?.binding === undefined) {
    return "the vault is not bound to this request: it may have been made for another one";
  }
  if (binding === vaultBinding(dir, manifest)) return null;
  throw new NutError("VAULT_UNFIT", "the vault was made for other checks than this request has, so it stays closed", {
    hint: "where you changed the checks yourself, nutshell pack binds the vault to them; else ask the publisher",
  });
}

/** What pack leaves behind when it is done. */
export interface Bound {
  /** The manifest to pack. */
  readonly manifest: Manifest;
  /** Whether the vault's file was written anew. */
  readonly resealed: boolean;
}

/** A yes to running a stranger's checks is none to giving them what was sealed for others. */
function isStrangers(dir: string, { env }: Context): boolean {
  const record = readConsentRecord(env);
  const digest = strangerDigest(dir, record);
  return digest !== null && !record.packed.has(digest);
}

/** Binds a request's vault to its checks, for the same people; where it cannot be opened, says that it stays as it is. */
export async function bindVault(
  dir: string,
  manifest: Manifest,
  identity: readonly string[],
  context: Context,
): Promise<Bound> {
  const folder = readVaultFolder(dir, context.env);
  if (folder.bytes === null || manifest.bundle_type !== "request") return { manifest, resealed: false };
  try {
    const keys = collectKeys(identity, { ...context, ask: null });
    const binding = vaultBinding(dir, manifest);
    const bound = { ...manifest, credentials: { ...manifest.credentials, binding } };
    const { vault, backend, target } = await unlock(folder, keys);
    if (vault.binding === binding) return { manifest: bound, resealed: false };
    if (identity.length === 0 && isStrangers(dir, context)) {
      const message =
        "the vault stays closed for these checks: the request is somebody else's (--vault-identity binds it)";
      context.progress({ type: "vault_unbound", message });
      return { manifest, resealed: false };
    }
    await putVault(folder, await sealVault({ ...vault, binding }, backend, target, keys), null);
    return { manifest: bound, resealed: true };
  } catch (error) {
    if (!(error instanceof NutError) || identity.length > 0) throw error;
    context.progress({ type: "vault_unbound", message: `the vault is not bound to this request: ${error.message}` });
    return { manifest, resealed: false };
  }
}
