import type { CredentialReader } from "../acceptance/index.js";
import { NutError } from "../errors.js";
import type { Context } from "../operation.js";
import { handOut, type OpenedVault, recordUses, type Secret, scrubber } from "../vault/index.js";
import { collectKeys } from "./keys.js";
import { readVaultFolder, unlock } from "./vault-folder.js";

export interface AcceptanceCredentials {
  readonly read: CredentialReader;
  /** Takes out every secret that was handed out. */
  readonly scrub: (text: string) => string;
  /** Names of what was handed out so far. */
  readonly used: () => string[];
}

/** Opens the request's vault at the first check that needs it. A credential nobody here can open is not an error: its check is skipped by name. */
export function acceptanceCredentials(
  request: string,
  identity: readonly string[],
  context: Context,
  /** The person's own folder, where uses are kept until a delivery is packed of it; null when only a copy was opened. */
  kept: string | null = null,
): AcceptanceCredentials {
  const secrets: Secret[] = [];
  const used = new Set<string>();
  let opened: Promise<OpenedVault> | undefined;
  const folder = readVaultFolder(request, context.env);
  return {
    used: () => [...used].sort(),
    scrub: (text) => (secrets.length === 0 ? text : scrubber(secrets).text(text)),
    read: async (name) => {
      try {
        opened ??= unlock(folder, collectKeys(identity, context));
        const { vault } = await opened;
        const given = handOut({
          vault,
          scopes: folder.manifest.credentials?.scopes ?? [],
          names: [name],
          purpose: "acceptance",
          now: context.now(),
        });
        secrets.push(...given.secrets);
        used.add(name);
        context.progress({ type: "credential_used", name, message: `credential "${name}" is used by the acceptance` });
        if (kept !== null) recordUses(kept, given.uses);
        const credential = vault.credentials.find((row) => row.name === name)!;
        return { type: credential.type, value: credential.value, env: given.env };
      } catch (error) {
        if (!(error instanceof NutError)) throw error;
        context.progress({ type: "warning", message: `credential "${name}": ${error.message}` });
        return null;
      }
    },
  };
}
