// What pack lets through: no vault in clear, no hidden check in clear, no secret in any file, no key of one's own. And what it adds to a delivery:
// the record of the credentials that were used.
import { join, resolve } from "node:path";
import type { OpenedContent } from "../../bundle/index.js";
import { type Finding, NutError, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import type { Manifest } from "../../schema/manifest.js";
import { type Leak, readUses, type Secret, secretsOf } from "../../vault/index.js";
import { assertNothingClear } from "../hidden/sealed-checks.js";
import { collectKeys, defaultIdentityPath, hasHome, peerPaths } from "../vault/keys.js";
import { backendOf, dirWords, readVaultFolder, unlock, type VaultFolder } from "../vault/vault-folder.js";
import { type LeakGuard, leakGuard, leakList, showFiles, withAllowed } from "./leak-guard.js";
import type { LookThreads } from "./look-apart.js";

export interface GuardRequest {
  /** The folder as typed, for hints to repeat. */
  readonly dir?: string | undefined;
  /** Paths that may go although they look like secrets. */
  readonly allow?: readonly string[] | undefined;
  /** Names the risk of sending a vault that is not encrypted; absent where that cannot be named. */
  readonly plainVault?: boolean | undefined;
  /** age identities that open the vault, to look for its values. */
  readonly vaultIdentity?: readonly string[] | undefined;
  /** Whose vault holds the values to look for, when it is not the folder's own: the request a delivery answers. */
  readonly vaultFolder?: string | undefined;
  /** On which threads files are hashed and scanned. */
  readonly threads?: LookThreads | null;
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
  const { allow = [], plainVault, vaultIdentity = [], threads } = request;
  await assertNothingClear(dir, manifest, context);
  const folder = readVaultFolder(dir, context.env);
  const backend = backendOf(folder);
  if (backend === "none" && plainVault !== true) throw inClear(folder, request);
  const guard = await leakGuard(dir, {
    allow,
    knownValues: await knownValues(valuesFrom(request, folder, context), vaultIdentity, context),
    keyFiles: keyFiles(vaultIdentity, context),
    skip: backend === "none" ? [folder.path] : [],
    threads,
    onWarning: (leaks) => {
      const message = `may be a secret, and is packed: ${leakList(leaks)}; .nutignore leaves a file out`;
      context.progress({ type: "warning", message });
    },
  });
  return { guard, manifest: withUses(dir, withAllowed(manifest, allow)) };
}

function inClear({ path }: VaultFolder, { dir, plainVault }: GuardRequest): NutError {
  const risk = plainVault === undefined ? "" : ", or name the risk: --plain-vault";
  return new NutError("VAULT_IN_CLEAR", `${path} is not encrypted; everyone who gets the bundle could read it`, {
    hint: `nutshell rotate --encryption age${dirWords(dir)}${risk}`,
  });
}

/**
 * What keeps a folder that lacks nothing from being packed: secrets in its files, keys of one's own, a vault or hidden
 * checks in clear. One finding for each file.
 */
export async function guardFindings(
  { path: folder, manifest, files }: Pick<OpenedContent, "path" | "manifest" | "files">,
  request: GuardRequest,
  context: Context,
): Promise<Finding[]> {
  try {
    const { guard } = await guardPack(folder, manifest, request, { ...context, progress: () => {} });
    await showFiles(guard, folder, files.keys());
    await guard.approve(manifest);
    return [];
  } catch (error) {
    if (!(error instanceof NutError)) throw error;
    if (error.code === "LEAK_FOUND") return leakFindings(error.data.leaks as readonly Leak[], request);
    return [clearFinding(error, request)];
  }
}

function clearFinding({ code, message, hint, data }: NutError, { dir }: GuardRequest): Finding {
  const severity = "error";
  if (code !== "HIDDEN_IN_CLEAR") {
    const path = code === "HIDDEN_UNFIT" ? "acceptance.hidden" : "credentials.vault";
    return { code, severity, path, message, ...(hint === undefined ? {} : { fix: hint }) };
  }
  const path = String(data.path);
  return { code, severity, path, message: "is hidden, but lies in clear beside it", fix: takenOut(path, dir) };
}

/** Out of the folder, and nothing lost. */
const takenOut = (path: string, dir: string | undefined): string =>
  dir === undefined ? `mv -n ${shellWord(path)} ..` : `mv -n ${shellWord(join(dir, path))} .`;

function leakFindings(leaks: readonly Leak[], { dir }: GuardRequest): Finding[] {
  const first = new Map(leaks.toReversed().map((leak) => [leak.path, leak]));
  return [...first.values()].toReversed().map(({ path, line, rule, masked }) => {
    const file = shellWord(dir === undefined ? path : join(dir, path));
    const place = line === null ? "" : ` in line ${line}`;
    return {
      code: "LEAK_FOUND",
      severity: "error",
      path,
      message: `what looks like a secret${place}: ${rule} (${masked}); pack takes it only with --allow ${shellWord(path)}`,
      fix: line === null ? takenOut(path, dir) : `\${EDITOR:-vi} ${file}`,
    };
  });
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
