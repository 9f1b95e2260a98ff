// What a request's vault gives access to, and until when. Values are not known here.
import { z } from "zod";
import { type Finding, NutError, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import { FindingShape } from "../../schema/finding.js";
import type { CredentialScope } from "../../schema/manifest.js";
import type { Vault } from "../../schema/vault.js";
import { EXPIRY_STATES, type ExpiryState, earliestExpiry, expiryState } from "../../vault/index.js";
import { collectKeys } from "./keys.js";
import { CredentialUseShape, endpointsOf, useOfScope, usesIn } from "./use-of-credential.js";
import { backendOf, readVaultFolder, unlock, type VaultFolder } from "./vault-folder.js";

export const CredentialRow = z.object({
  name: z.string(),
  type: z.string(),
  state: z.enum(EXPIRY_STATES),
  expires_at: z.string().nullable(),
  access_level: z.string().optional(),
  rate_limit: z.string().optional(),
  scopes: z.array(z.string()).optional(),
  restrictions: z.record(z.string(), z.unknown()).optional(),
  lending: CredentialUseShape.describe("how agents and checks would use it"),
});
export type CredentialRow = z.infer<typeof CredentialRow>;

export const CredentialList = z.object({
  vault: z.string().nullable(),
  encryption: z.string().nullable(),
  opened: z.boolean().describe("whether an identity opened the vault; without one only the manifest is read"),
  why_closed: z.string().optional().describe("what keeps the vault closed here"),
  next: z.string().optional().describe("what adds the first one, where there is none"),
  credentials: z.array(CredentialRow),
  findings: z.array(FindingShape),
});
export type CredentialList = z.infer<typeof CredentialList>;

const CLOSED: readonly string[] = ["VAULT_NO_MATCHING_KEY", "NO_TERMINAL", "VAULT_UNREACHABLE"];

/** With a fitting key what the vault says, without one what the manifest says. */
export async function readCredentials(
  dir: string,
  identity: readonly string[],
  context: Context,
): Promise<CredentialList> {
  const folder = readVaultFolder(dir, context.env);
  const { vault, why } = await tryUnlock(folder, identity, context);
  const list = listOf(folder, vault, context.now());
  return why === undefined ? list : { ...list, why_closed: why };
}

interface Unlocked {
  readonly vault: Vault | null;
  /** Why it stays closed. */
  readonly why?: string;
}

/** No vault without a fitting key, unless one was named: then its refusal is the answer. */
async function tryUnlock(folder: VaultFolder, identity: readonly string[], context: Context): Promise<Unlocked> {
  if (folder.bytes === null) return { vault: null };
  try {
    // Nobody is asked for a passphrase only to be shown a list.
    const keys = collectKeys(identity, { ...context, ask: null });
    return { vault: (await unlock(folder, keys)).vault };
  } catch (error) {
    if (!(error instanceof NutError) || !CLOSED.includes(error.code) || identity.length > 0) throw error;
    return { vault: null, why: error.message.replace(/^the vault stays closed: /, "") };
  }
}

export function listOf(folder: VaultFolder, vault: Vault | null, now: Date): CredentialList {
  const scopes = folder.manifest.credentials?.scopes ?? [];
  const uses = vault === null ? null : usesIn(vault, folder.manifest, endpointsOf(folder.dir, folder.manifest));
  const rows = vault === null ? scopes.map((scope) => scopeRow(scope, now)) : vaultRows(vault, scopes, now);
  const credentials = rows.map((row) => ({ ...row, lending: uses?.get(row.name) ?? useOfScope(row) }));
  return {
    vault: folder.bytes === null ? null : folder.path,
    encryption: backendOf(folder) ?? folder.manifest.credentials?.encryption ?? null,
    opened: vault !== null,
    credentials,
    findings: [...credentials.flatMap(expiryFindings), ...(vault === null ? [] : mirrorFindings(vault, scopes))],
  };
}

type BareRow = Omit<CredentialRow, "lending">;

function scopeRow(scope: CredentialScope, now: Date): BareRow {
  const expires = earliestExpiry([scope.expires_at]);
  return {
    name: scope.name,
    type: scope.type,
    state: scope.revoked_at === undefined ? expiryState(expires, now) : "revoked",
    expires_at: expires,
    ...(scope.access_level === undefined ? {} : { access_level: scope.access_level }),
    ...(scope.rate_limit === undefined ? {} : { rate_limit: scope.rate_limit }),
  };
}

function vaultRows(vault: Vault, scopes: readonly CredentialScope[], now: Date): BareRow[] {
  return vault.credentials.map((credential) => {
    const scope = scopes.find(({ name }) => name === credential.name);
    const expires = earliestExpiry([vault.expires_at, credential.expires_at, scope?.expires_at]);
    const revoked = credential.revoked_at !== undefined || scope?.revoked_at !== undefined;
    return {
      ...scopeRow({ ...scope, name: credential.name, type: credential.type }, now),
      state: revoked ? "revoked" : expiryState(expires, now),
      expires_at: expires,
      ...(credential.scopes === undefined ? {} : { scopes: [...credential.scopes] }),
      ...(credential.restrictions === undefined ? {} : { restrictions: credential.restrictions }),
    };
  });
}

const EXPIRY_WORDS: Readonly<Partial<Record<ExpiryState, readonly [code: string, words: string]>>> = {
  expired: ["CREDENTIAL_EXPIRED", "expired and is not handed out"],
  expiring_soon: ["CREDENTIAL_EXPIRES_SOON", "expires within 7 days"],
  no_expiry: ["CREDENTIAL_NO_EXPIRY", "never expires"],
  unreadable: ["CREDENTIAL_EXPIRY_UNREADABLE", "has an expiry that is not an RFC 3339 time; it is not handed out"],
};

/** What `rotate` audits. */
function expiryFindings({ name, state, expires_at: at }: CredentialRow): Finding[] {
  const words = EXPIRY_WORDS[state];
  if (words === undefined) return [];
  const severity = state === "expired" || state === "unreadable" ? "error" : "warning";
  const when = at === null ? "" : ` (${at})`;
  return [
    {
      code: words[0],
      severity,
      path: `credentials.scopes.${name}`,
      message: `credential "${name}" ${words[1]}${when}`,
      fix: `nutshell rotate ${shellWord(name)} --expires 30d`,
    },
  ];
}

/** The manifest should say what the vault holds; a killed command or another tool may have left it behind. */
function mirrorFindings(vault: Vault, scopes: readonly CredentialScope[]): Finding[] {
  const inVault = new Set(vault.credentials.map(({ name }) => name));
  const inManifest = new Set(scopes.map(({ name }) => name));
  const missing = [...inVault].filter((name) => !inManifest.has(name));
  const extra = [...inManifest].filter((name) => !inVault.has(name));
  return [
    ...missing.map((name) => [name, "is in the vault but not in the manifest"] as const),
    ...extra.map((name) => [name, "is in the manifest but not in the vault"] as const),
  ].map(([name, words]) => ({
    code: "CREDENTIAL_OUT_OF_STEP",
    severity: "warning",
    path: `credentials.scopes.${name}`,
    message: `credential "${name}" ${words}`,
    fix: "nutshell rotate --re-encrypt",
  }));
}
