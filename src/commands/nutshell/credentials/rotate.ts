import { z } from "zod";
import { writeManifest } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag, flagWords, positional } from "../../../cli/fields.js";
import { NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { folderTarget } from "../../../request/open/target.js";
import { listOf, readCredentials } from "../../../request/vault/credential-list.js";
import { collectKeys, ownRecipients } from "../../../request/vault/keys.js";
import {
  RotateResult,
  replaceCredential,
  requireSigner,
  rotateResult,
  saveRotation,
} from "../../../request/vault/rotation.js";
import { hasValue, readValue } from "../../../request/vault/value-source.js";
import {
  dirWords,
  noVault,
  putVault,
  readVaultFolder,
  unlock,
  type VaultFolder,
} from "../../../request/vault/vault-folder.js";
import type { Credential, Vault } from "../../../schema/vault.js";
import {
  type BackendName,
  checkRecipient,
  findCredential,
  type Keys,
  type OpenedVault,
  parseExpiry,
  rewrapTransit,
  type Target,
} from "../../../vault/index.js";
import { DIR } from "../flags.js";
import { aboutFolder, aboutList } from "./about-folder.js";
import { ENCRYPTION, EXPORT, IDENTITY, VALUE } from "./credentials-flags.js";
import { rotateLines } from "./credentials-text.js";

const DEFAULT_EXPIRY = "30d";

const RotateInput = z.object({
  name: positional(z.string().optional(), { about: "the credential to renew; without one, audit all" }),
  expires: flag(z.string().optional(), { value: "<time>", about: "7d, 12h, a date or a time (default: 30d)" }),
  replace: flag(z.boolean().default(false), { about: "ask for a new value" }),
  ...VALUE,
  addRecipients: flag(z.array(z.string()).default([]), {
    name: "recipient",
    short: "r",
    value: "<age1…>",
    about: "also let this key open the vault",
  }),
  removeRecipients: flag(z.array(z.string()).default([]), {
    name: "remove-recipient",
    value: "<age1…>",
    about: "no longer let this key open it",
  }),
  reEncrypt: flag(z.boolean().default(false), { about: "encrypt again, with fresh keys" }),
  ...ENCRYPTION,
  ...EXPORT,
  ...IDENTITY,
  ...DIR,
});
type RotateInput = z.output<typeof RotateInput>;

const rotate = command({
  name: "rotate",
  summary: "audit expiry; renew, replace, re-encrypt",
  input: RotateInput,
  output: RotateResult,
  about: [
    "Alone it audits: expired or unreadable is 1, everything else 0. Removing a recipient does not take back what they have seen: replace the values too.",
    "--export writes a small signed file. Whoever holds the bundle runs nutshell apply-rotation on it; the bundle is not published again.",
  ],
  examples: [
    ["nutshell rotate --dir my-task", "audit"],
    ["nutshell rotate staging-db --value-stdin --export new.rotation.json", "a new value for every holder"],
  ],
  async run(input, context) {
    const dir = folderTarget(input.dir, context).path;
    if (!asksForChange(input)) {
      const list = await readCredentials(dir, input.identity, context);
      return { ...aboutList(list, input.dir), changed: null, saved: false, recipients: [], rotation: null };
    }
    const folder = readVaultFolder(dir, context.env);
    if (folder.bytes === null) return scopeOnly(folder, input, context);
    const keys = collectKeys(input.identity, context);
    const signer = input.export === undefined ? null : requireSigner(folder.manifest, input.signer, context);
    if (isRewrap(input, folder)) return rewrap(folder, keys, context);
    const opened = await unlock(folder, keys);
    const vault = await changedVault(opened.vault, input, context);
    const { backend, target } = await retarget(opened, input, keys);
    return saveRotation(folder, { vault, backend, target, keys }, { ...input, signer }, context);
  },
  text: rotateLines,
  exit: ({ saved, findings }) => (!saved && findings.some(({ severity }) => severity === "error") ? 1 : 0),
});
export default aboutFolder(rotate);

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
  const saved = await putVault(folder, await rewrapTransit(folder.bytes!, keys), (manifest) => manifest);
  return {
    ...listOf(saved, null, context.now()),
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
  return rotateResult({ ...folder, manifest }, null, input.name, context, []);
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
      hint: `nutshell rotate ${shellWord(input.name)}${dirWords(input.dir)} --replace`,
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
  if (moved && recipients.length === 0) {
    throw new NutError("IDENTITY_MISSING", "there is nobody to encrypt for: no --recipient and no identity", {
      hint: `nutshell keygen && nutshell rotate${input.name === undefined ? "" : ` ${shellWord(input.name)}`}${flagWords(RotateInput, input)}`,
    });
  }
  if (removed.size > 0 && recipients.length === 0)
    throw new NutError("IDENTITY_MISSING", "this would leave nobody to open the vault", {
      hint: "add who shall open it: --recipient '<age1…>'",
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
