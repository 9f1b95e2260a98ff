// What pack lets through: no vault in clear, no hidden check in clear, no secret in any file, no key of one's own. And what it adds to a delivery:
// the record of the credentials that were used.
import { resolve } from "node:path";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import type { Manifest } from "../../schema/manifest.js";
import { readUses, type Secret, secretsOf } from "../../vault/index.js";
import { assertNothingClear } from "../hidden/hidden.js";
import { collectKeys, defaultIdentityPath, hasHome, peerPaths } from "../vault/keys.js";
import { backendOf, readVaultFolder, unlock, type VaultFolder } from "../vault/vault-folder.js";
import { type LeakGuard, leakGuard, leakList, withAllowed } from "./leak-guard.js";

export interface GuardRequest {
  /** Paths that may go although they look like secrets. */
  readonly allow?: readonly string[] | undefined;
  /** Names the risk of sending a vault that is not encrypted. */
  readonly plainVault?: boolean | undefined;
  /** age identities that open the vault, to look for its values. */
  readonly vaultIdentity?: readonly string[] | undefined;
  /** Whose vault holds the values to look for, when it is not the folder's own: the request a delivery answers. */
  readonly vaultFolder?: string | undefined;
}

export interface GuardedPack {
  readonly guard: LeakGuard;
  /** The manifest to pack. */
  readonly manifest: Manifest;
}

export async function guardPack(
  dir: string,
  manifest: Manifest,
  request: GuardRequest,
  context: Context,
): Promise<GuardedPack> {
  const { allow = [], plainVault = false, vaultIdentity = [] } = request;
  await assertNothingClear(dir, manifest, context);
  const folder = readVaultFolder(dir, context.env);
  const backend = backendOf(folder);
  if (backend === "none" && !plainVault) {
    throw new NutError(
      "VAULT_IN_CLEAR",
      `${folder.path} is not encrypted; everyone who gets the bundle could read it`,
      {
        hint: "nutshell rotate --encryption age, or name the risk: nutshell pack --plain-vault",
      },
    );
  }
  const guard = await leakGuard(dir, {
    allow,
    knownValues: await knownValues(valuesFrom(request, folder, context), vaultIdentity, context),
    keyFiles: keyFiles(vaultIdentity, context),
    skip: backend === "none" ? [folder.path] : [],
    onWarning: (leaks) => {
      const message = `may be a secret, and is packed: ${leakList(leaks)}; .nutignore leaves a file out`;
      context.progress({ type: "warning", message });
    },
  });
  return { guard, manifest: withUses(dir, withAllowed(manifest, allow)) };
}

const valuesFrom = ({ vaultFolder }: GuardRequest, own: VaultFolder, { env }: Context): VaultFolder =>
  vaultFolder === undefined ? own : readVaultFolder(vaultFolder, env);

/** Opens the vault if that needs nobody's help; says so when it cannot, since less is found then. */
async function knownValues(folder: VaultFolder, identity: readonly string[], context: Context): Promise<Secret[]> {
  if (folder.bytes === null) return [];
  try {
    const { vault } = await unlock(folder, collectKeys(identity, { ...context, ask: null }));
    return vault.credentials.flatMap(secretsOf);
  } catch (error) {
    if (!(error instanceof NutError) || identity.length > 0) throw error;
    context.progress({
      type: "leak_scan",
      message:
        "the vault is closed here, so its values were not looked for in the other files (--vault-identity <file>)",
    });
    return [];
  }
}

function keyFiles(identity: readonly string[], { cwd, env }: Context): string[] {
  const own = hasHome(env) ? [defaultIdentityPath(env), ...peerPaths(env)] : [];
  return [...own, ...identity.map((file) => resolve(cwd, file))];
}

/** A delivery names the credentials that were handed out while it was made. */
function withUses(dir: string, manifest: Manifest): Manifest {
  if (manifest.bundle_type !== "delivery") return manifest;
  const known = manifest.execution_log?.credentials_used ?? [];
  const names = new Set(known.map((use) => (typeof use === "string" ? use : `${use.name} ${use.at} ${use.purpose}`)));
  const fresh = readUses(dir).filter(
    ({ name, at, purpose }) => !names.has(name) && !names.has(`${name} ${at} ${purpose}`),
  );
  if (fresh.length === 0) return manifest;
  return { ...manifest, execution_log: { ...manifest.execution_log, credentials_used: [...known, ...fresh] } };
}
