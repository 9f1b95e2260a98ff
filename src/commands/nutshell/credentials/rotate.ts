import { resolve } from "node:path";
import { z } from "zod";
import { writeManifest } from "../../../bundle/index.js";
import { NutError, shellWord } from "../../../errors.js";
import { atomicWrite } from "../../../files/index.js";
import { type Context, operation } from "../../../operation.js";
import { collectKeys, EncryptionInput, findPeerIdentity, keyInput, ownRecipients } from "../../../request/keys.js";
import { hasValue, readValue, valueInput } from "../../../request/value-source.js";
import {
  dirWords,
  noVault,
  putVault,
  readVaultFolder,
  saveVault,
  unlock,
  type VaultFolder,
} from "../../../request/vault-folder.js";
import type { Manifest } from "../../../schema/manifest.js";
import type { Credential, Vault } from "../../../schema/vault.js";
import {
  type BackendName,
  checkRecipient,
  findCredential,
  type Keys,
  type OpenedVault,
  type PeerIdentity,
  parseExpiry,
  rewrapTransit,
  signRotation,
  type Target,
  wholeSeconds,
} from "../../../vault/index.js";
import { withPublicKey } from "./add-credential.js";
import {
  type CredentialList,
  CredentialRow,
  CredentialList as Listed,
  listCredentials,
  listOf,
} from "./credentials.js";

const DEFAULT_EXPIRY = "30d";

const RotateInput = z.object({
  dir: z.string().default("."),
  name: z.string().optional(),
  expires: z.string().optional(),
  replace: z.boolean().default(false).describe("ask for a new value"),
  addRecipients: z.array(z.string()).default([]),
  removeRecipients: z.array(z.string()).default([]),
  encryption: EncryptionInput,
  transitKey: z.string().optional(),
  reEncrypt: z.boolean().default(false),
  export: z.string().optional().describe("write a signed rotation file for holders of the bundle"),
  signer: z.string().optional().describe("Ed25519 identity that signs it"),
  ...keyInput,
  ...valueInput,
});
type RotateInput = z.output<typeof RotateInput>;

export const RotateResult = z.object({
  ...Listed.shape,
  changed: CredentialRow.nullable().describe("the credential that was renewed"),
  saved: z.boolean().describe("whether anything was written"),
  recipients: z.array(z.string()),
  rotation: z.object({ path: z.string(), sequence: z.int() }).nullable(),
});
export type RotateResult = z.output<typeof RotateResult>;

export const rotate = operation({
  name: "credentials_rotate",
  summary: "audit expiry; renew, replace or re-encrypt credentials; write a rotation for holders of the bundle",
  input: RotateInput,
  output: RotateResult,
  async run(input, context) {
    const dir = resolve(context.cwd, input.dir);
    if (!asksForChange(input)) {
      const list = await listCredentials.run({ dir, identity: input.identity }, context);
      return { ...list, changed: null, saved: false, recipients: [], rotation: null };
    }
    const folder = readVaultFolder(dir, context.env);
    if (folder.bytes === null) return scopeOnly(folder, input, context);
    const keys = collectKeys(input.identity, context);
    const signer = input.export === undefined ? null : requireSigner(folder.manifest, input.signer, context);
    if (isRewrap(input, folder)) return rewrap(folder, keys, context);
    const opened = await unlock(folder, keys);
    const vault = await changedVault(opened.vault, input, context);
    const { backend, target } = await retarget(opened, input, keys);
    return finish(folder, { vault, backend, target, keys }, { ...input, signer }, context);
  },
});

function asksForChange(input: RotateInput): boolean {
  return (
    input.name !== undefined ||
    input.reEncrypt ||
    input.encryption !== undefined ||
    input.export !== undefined ||
    input.addRecipients.length > 0 ||
    input.removeRecipients.length > 0
  );
}

/** A vault held by HashiCorp's server is encrypted again there, without opening it here. */
function isRewrap(input: RotateInput, { manifest }: VaultFolder): boolean {
  return (
    input.reEncrypt &&
    input.name === undefined &&
    input.encryption === undefined &&
    input.export === undefined &&
    manifest.credentials?.encryption === "vault"
  );
}

async function rewrap(folder: VaultFolder, keys: Keys, context: Context): Promise<RotateResult> {
  await putVault(folder, await rewrapTransit(folder.bytes!, keys), (manifest) => manifest);
  return {
    ...listOf(readVaultFolder(folder.dir, context.env), null, context.now()),
    changed: null,
    saved: true,
    recipients: [],
    rotation: null,
  };
}

/** Without a vault there is only the manifest's row to renew, as the seed's tool does. */
function scopeOnly(folder: VaultFolder, input: RotateInput, context: Context): RotateResult {
  const scopes = folder.manifest.credentials?.scopes ?? [];
  if (input.name === undefined || hasValue(input) || input.replace || !scopes.some(({ name }) => name === input.name)) {
    throw noVault(folder);
  }
  const expires = parseExpiry(input.expires ?? DEFAULT_EXPIRY, context.now());
  const renewed = scopes.map((scope) => (scope.name === input.name ? { ...scope, expires_at: expires } : scope));
  const manifest = { ...folder.manifest, credentials: { ...folder.manifest.credentials, scopes: renewed } };
  writeManifest(folder.dir, manifest);
  return result({ ...folder, manifest }, null, input.name, context, []);
}

/** Name alone renews by 30 days; a new value or an expiry changes just that. */
async function changedVault(vault: Vault, input: RotateInput, context: Context): Promise<Vault> {
  if (input.name === undefined) return vault;
  const old = findCredential(vault, input.name);
  const newValue = input.replace || hasValue(input);
  const value = newValue
    ? await readValue(input, context, `nutshell rotate ${shellWord(input.name)}${dirWords(input.dir)}`)
    : old.value;
  const expires = input.expires ?? (newValue && old.expires_at === undefined ? undefined : DEFAULT_EXPIRY);
  if (old.revoked_at !== undefined && !newValue) {
    throw new NutError("CREDENTIAL_REVOKED", `credential "${input.name}" was revoked and has no value any more`, {
      hint: `nutshell rotate ${shellWord(input.name)} --value-stdin`,
    });
  }
  const { revoked_at: _revoked, ...kept } = old;
  const renewed: Credential = {
    ...kept,
    value,
    ...(expires === undefined ? {} : { expires_at: parseExpiry(expires, context.now()) }),
  };
  return replaceCredential(vault, renewed);
}

export function replaceCredential(vault: Vault, renewed: Credential): Vault {
  return { ...vault, credentials: vault.credentials.map((one) => (one.name === renewed.name ? renewed : one)) };
}

async function retarget(
  opened: OpenedVault,
  input: RotateInput,
  keys: Keys,
): Promise<{ backend: BackendName; target: Target }> {
  const backend = input.encryption ?? opened.backend;
  const removed = new Set(input.removeRecipients);
  const kept = (opened.target.recipients ?? []).filter((one) => !removed.has(one));
  const unknown = input.removeRecipients.find((one) => !(opened.target.recipients ?? []).includes(one));
  if (unknown !== undefined) {
    throw new NutError("IDENTITY_INVALID", `${unknown.slice(0, 80)} is not among the vault's recipients`, {
      hint: "nutshell rotate --json",
    });
  }
  const named = [...new Set([...kept, ...(await Promise.all(input.addRecipients.map(checkRecipient)))])];
  // Coming from a backend without recipients, one's own identity is who the vault is for.
  const moved = backend !== opened.backend && (backend === "age" || backend === "sops");
  const recipients = named.length === 0 && moved ? await ownRecipients(keys) : named;
  if (removed.size > 0 && recipients.length === 0)
    throw new NutError("IDENTITY_MISSING", "this would leave nobody to open the vault", {
      hint: "add who shall open it: --recipient <age1…>",
    });
  return {
    backend,
    target: {
      ...opened.target,
      recipients,
      ...(input.transitKey === undefined ? {} : { transitKey: input.transitKey }),
    },
  };
}

export interface Sealing {
  readonly vault: Vault;
  readonly backend: BackendName;
  readonly target: Target;
  readonly keys: Keys;
}

interface ExportInput {
  readonly name?: string | undefined;
  readonly export?: string | undefined;
  readonly signer: PeerIdentity | null;
}

/** Saves, and writes the rotation file when one was asked for. */
export async function finish(
  folder: VaultFolder,
  sealing: Sealing,
  input: ExportInput,
  context: Context,
): Promise<RotateResult> {
  const sequence = sequenceOf(folder.manifest) + 1;
  const at = wholeSeconds(context.now());
  await saveVault(folder, {
    ...sealing,
    manifest: (manifest) =>
      input.signer === null ? manifest : withSequence(withPublicKey(manifest, hexOf(input.signer)), sequence, at),
  });
  const saved = readVaultFolder(folder.dir, context.env);
  const recipients = [...(sealing.target.recipients ?? [])];
  const base = result(saved, sealing.vault, input.name, context, recipients);
  if (input.export === undefined || input.signer === null) return base;
  const path = resolve(context.cwd, input.export);
  const rotation = {
    bundle_id: saved.manifest.id,
    sequence,
    issued_at: at,
    encryption: sealing.backend,
    vault: saved.bytes!.toString("base64"),
    scopes: saved.manifest.credentials?.scopes ?? [],
  };
  atomicWrite(path, `${JSON.stringify(signRotation(rotation, input.signer), null, 2)}\n`);
  return { ...base, rotation: { path, sequence } };
}

/** The key that holders of the bundle already trust, or any key when the manifest names none yet. */
export function requireSigner(manifest: Manifest, file: string | undefined, context: Context): PeerIdentity {
  const signer = findPeerIdentity(file, context);
  if (signer === null) {
    throw new NutError("IDENTITY_MISSING", "a rotation file is signed, and there is no Ed25519 identity", {
      hint: "nutshell keygen --peer",
    });
  }
  const known = manifest.publisher?.public_key;
  if (known !== undefined && known.toLowerCase() !== hexOf(signer)) {
    throw new NutError("ROTATION_REFUSED", "holders of this bundle trust another key than this identity's", {
      hint: "nutshell rotate <name> --export <file> --signer <the publisher's identity>",
      data: { trusted: known, own: hexOf(signer) },
    });
  }
  if (known === undefined) {
    context.progress({
      type: "warning",
      message: "bundles packed before now name no publisher key; their holders cannot apply this rotation",
    });
  }
  return signer;
}

function hexOf({ publicKey }: PeerIdentity): string {
  return Buffer.from(publicKey).toString("hex");
}

const Sequence = z.looseObject({ sequence: z.int().nonnegative() });

/** Number of the last rotation, in `credentials.rotation` of the manifest. */
export function sequenceOf(manifest: Manifest): number {
  const parsed = Sequence.safeParse(manifest.credentials?.rotation);
  return parsed.success ? parsed.data.sequence : 0;
}

export function withSequence(manifest: Manifest, sequence: number, at: string): Manifest {
  return { ...manifest, credentials: { ...manifest.credentials, rotation: { sequence, at } } };
}

function result(
  folder: VaultFolder,
  vault: Vault | null,
  name: string | undefined,
  context: Context,
  recipients: string[],
): RotateResult {
  const list: CredentialList = listOf(folder, vault, context.now());
  const changed = list.credentials.find((row) => row.name === name) ?? null;
  return { ...list, changed, saved: true, recipients, rotation: null };
}
