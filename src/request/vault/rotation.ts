// Changed credentials: saved in the vault, and signed for those who hold the bundle already.
import { type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { MANIFEST_NAME } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import type { FileWrite } from "../../files/index.js";
import type { Context } from "../../operation.js";
import type { Manifest } from "../../schema/manifest.js";
import type { Credential, Vault } from "../../schema/vault.js";
import {
  type BackendName,
  type Keys,
  type PeerIdentity,
  signRotation,
  type Target,
  wholeSeconds,
} from "../../vault/index.js";
import { CredentialList, CredentialRow, listOf } from "./credential-list.js";
import { findPeerIdentity } from "./keys.js";
import { saveVault, type VaultFolder } from "./vault-folder.js";

export const RotateResult = z.object({
  ...CredentialList.shape,
  changed: CredentialRow.nullable().describe("the credential that was renewed"),
  saved: z.boolean().describe("whether anything was written"),
  recipients: z.array(z.string()),
  rotation: z.object({ path: z.string(), sequence: z.int() }).nullable(),
});
export type RotateResult = z.output<typeof RotateResult>;

export function replaceCredential(vault: Vault, renewed: Credential): Vault {
  return { ...vault, credentials: vault.credentials.map((one) => (one.name === renewed.name ? renewed : one)) };
}

interface Sealing {
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

/** Saves, together with the rotation file when one was asked for: both are written, or neither. */
export async function saveRotation(
  folder: VaultFolder,
  sealing: Sealing,
  input: ExportInput,
  context: Context,
): Promise<RotateResult> {
  const sequence = sequenceOf(folder.manifest) + 1;
  const at = wholeSeconds(context.now());
  const path = input.export === undefined || input.signer === null ? null : resolve(context.cwd, input.export);
  if (path !== null) assertElsewhere(path, folder);
  const exported = (manifest: Manifest, bytes: Uint8Array): FileWrite[] => {
    if (path === null || input.signer === null) return [];
    const rotation = {
      bundle_id: manifest.id,
      sequence,
      issued_at: at,
      encryption: sealing.backend,
      vault: Buffer.from(bytes).toString("base64"),
      scopes: manifest.credentials?.scopes ?? [],
    };
    return [{ path, data: `${JSON.stringify(signRotation(rotation, input.signer), null, 2)}\n` }];
  };
  const saved = await saveVault(folder, {
    ...sealing,
    more: exported,
    manifest: (manifest) =>
      input.signer === null ? manifest : withSequence(withPublicKey(manifest, hexOf(input.signer)), sequence, at),
  });
  const recipients = [...(sealing.target.recipients ?? [])];
  const base = rotateResult(saved, sealing.vault, input.name, context, recipients);
  return path === null ? base : { ...base, rotation: { path, sequence } };
}

/** The file for others would take the place of what it was made of. */
function assertElsewhere(path: string, folder: VaultFolder): void {
  const own = [join(folder.dir, MANIFEST_NAME), join(folder.dir, folder.path)];
  const found = statSync(path, { throwIfNoEntry: false });
  const isFound = ({ ino, dev }: Stats) => ino === found?.ino && dev === found.dev;
  if (!own.some((file) => isFound(statSync(file)))) return;
  throw new NutError("USAGE", `--export ${path} is this bundle's own file`, {
    hint: "name another file with --export",
    data: { path },
  });
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
      hint: "nutshell rotate '<name>' --export '<file>' --signer '<identity of the publisher>'",
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

/** Recorded once: holders of a bundle trust the key they got with it. */
export function withPublicKey(manifest: Manifest, publicKey: string | undefined): Manifest {
  if (publicKey === undefined || manifest.publisher?.public_key !== undefined) return manifest;
  return { ...manifest, publisher: { ...manifest.publisher, public_key: publicKey } };
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

export function rotateResult(
  folder: VaultFolder,
  vault: Vault | null,
  name: string | undefined,
  context: Context,
  recipients: string[],
): RotateResult {
  const list = listOf(folder, vault, context.now());
  const changed = list.credentials.find((row) => row.name === name) ?? null;
  return { ...list, changed, saved: true, recipients, rotation: null };
}
