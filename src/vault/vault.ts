// credentials/vault.enc.json: bytes ⇄ vault. Who may open it again travels inside, under `recipients`, where only those
// who can open it can change it; the manifest could be edited by anybody on the way.
import { NutError } from "../errors.js";
import type { Credential, Vault } from "../schema/vault.js";
import { ageBackend } from "./age-backend.js";
import type { Backend, BackendName, Keys, Target } from "./backend.js";
import { wholeSeconds } from "./expiry.js";
import { parseJson } from "./json.js";
import { plainBackend } from "./plain-backend.js";
import { sopsBackend } from "./sops-backend.js";
import { transitBackend } from "./transit-backend.js";

/** Order matters only for telling files apart: a sops file is also JSON. */
const BACKEND_LIST: readonly Backend[] = [ageBackend, sopsBackend, transitBackend, plainBackend];

export const VAULT_PATH = "credentials/vault.enc.json";
export const VAULT_VERSION = "0.2.0";
/** A vault is held in memory, several times over; 10,000 credentials make about 3 MB. */
export const MAX_VAULT_BYTES = 64 * 1024 * 1024;

export interface OpenedVault {
  readonly vault: Vault;
  readonly backend: BackendName;
  /** What seal() needs to write it for the same people. */
  readonly target: Target;
}

export function newVault(now: Date): Vault {
  return { vault_version: VAULT_VERSION, created_at: wholeSeconds(now), credentials: [] };
}

/** Which backend wrote these bytes; null for anything else. */
export function detectBackend(bytes: Uint8Array): BackendName | null {
  return BACKEND_LIST.find((backend) => backend.recognises(bytes))?.name ?? null;
}

/** What the manifest says must be what the bytes are: a vault in clear behind `encryption: age` would be sent as if sealed. */
export function checkBackend(bytes: Uint8Array, declared: string | undefined): BackendName {
  const actual = detectBackend(bytes);
  if (actual === null) throw new NutError("VAULT_DAMAGED", "the vault is in no known form (age, sops, vault, none)");
  if (actual === "none" && declared !== "none") {
    throw new NutError(
      "VAULT_IN_CLEAR",
      `the vault is not encrypted, though the manifest says ${declared ?? "nothing"}`,
      {
        hint: "nutshell rotate --encryption age --recipient '<age1…>'",
        data: { declared, actual },
      },
    );
  }
  if (declared !== undefined && declared !== actual) {
    throw new NutError("VAULT_BACKEND", `the manifest says ${declared}, but the vault is written by ${actual}`, {
      hint: `nutshell set credentials.encryption ${actual}`,
      data: { declared, actual },
    });
  }
  return actual;
}

/** The bytes in clear, whatever they hold. */
export async function openVaultBytes(bytes: Uint8Array, declared: string | undefined, keys: Keys): Promise<Uint8Array> {
  if (bytes.length > MAX_VAULT_BYTES) {
    throw new NutError("BUNDLE_LIMIT", `the vault is larger than ${MAX_VAULT_BYTES} bytes`, {
      data: { bytes: bytes.length },
    });
  }
  return backendNamed(checkBackend(bytes, declared)).open(bytes, keys);
}

export async function openVault(bytes: Uint8Array, declared: string | undefined, keys: Keys): Promise<OpenedVault> {
  const vault = readVault(await openVaultBytes(bytes, declared, keys));
  const backend = checkBackend(bytes, declared);
  const recipients = Array.isArray(vault.recipients) ? vault.recipients.filter((r) => typeof r === "string") : [];
  return {
    vault,
    backend,
    target: { ...(await backendNamed(backend).targetOf(bytes)), ...(recipients.length === 0 ? {} : { recipients }) },
  };
}

/** Encrypts a vault; recipients named by the target are remembered inside it. */
export async function sealVault(vault: Vault, backend: BackendName, target: Target, keys: Keys): Promise<Uint8Array> {
  const { recipients: _old, ...rest } = vault;
  const named = target.recipients ?? [];
  const content: Vault =
    named.length === 0 ? { ...rest, credentials: vault.credentials } : { ...rest, recipients: [...named] };
  return backendNamed(backend).seal(Buffer.from(`${JSON.stringify(content, null, 2)}\n`, "utf8"), target, keys);
}

export function backendNamed(name: BackendName): Backend {
  return BACKEND_LIST.find((backend) => backend.name === name)!;
}

/** Checked by hand: this runs on every opening, and a schema error would quote the values it looked at. */
export function readVault(plain: Uint8Array): Vault {
  const value = parseJson(plain) as Partial<Vault> | null;
  if (typeof value !== "object" || value === null || !Array.isArray(value.credentials)) {
    throw new NutError("VAULT_DAMAGED", "the vault opened, but has no list of credentials");
  }
  const names = new Set<string>();
  value.credentials.forEach((credential: Partial<Credential> | null, index) => {
    const wrong = credentialProblem(credential, names);
    if (wrong !== null) throw new NutError("VAULT_DAMAGED", `the vault's credential ${index + 1} ${wrong}`);
  });
  return { ...value, vault_version: String(value.vault_version ?? VAULT_VERSION) } as Vault;
}

function credentialProblem(credential: Partial<Credential> | null, names: Set<string>): string | null {
  if (typeof credential !== "object" || credential === null) return "is not an object";
  const { name, type, value, scopes, restrictions } = credential;
  if (typeof name !== "string" || name === "") return "has no name";
  if (names.has(name)) return "has the name of another one";
  names.add(name);
  if (typeof type !== "string" || type === "") return "has no type";
  if (typeof value !== "string" && (typeof value !== "object" || value === null || Array.isArray(value))) {
    return "has a value that is neither text nor an object";
  }
  if (scopes !== undefined && !Array.isArray(scopes)) return "has scopes that are not a list";
  if (restrictions !== undefined && (typeof restrictions !== "object" || restrictions === null)) {
    return "has restrictions that are not an object";
  }
  for (const field of ["expires_at", "revoked_at"] as const) {
    if (credential[field] !== undefined && typeof credential[field] !== "string")
      return `has an ${field} that is not text`;
  }
  return null;
}
