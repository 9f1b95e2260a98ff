// Whether anybody but its author can open a vault. Only somebody with a key to it can tell.
import { type Content, resolveReference } from "../../bundle/index.js";
import { type Finding, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import { openVault } from "../../vault/index.js";
import { collectKeys, ownRecipients } from "./keys.js";

/** A vault sealed for the author alone is of no use to whoever gets the bundle. Says nothing about what does not open. */
export async function audienceFindings(
  content: Content,
  dir: string | undefined,
  context: Context,
): Promise<Finding[]> {
  const { vault: named, encryption = "age" } = content.manifest.credentials ?? {};
  const vault = named === undefined ? null : resolveReference(named);
  if (vault === null || encryption !== "age" || !content.files.has(vault)) return [];
  const keys = collectKeys([], { ...context, ask: null });
  if (keys.identities.length === 0) return [];
  const bytes = Buffer.from(await content.read(vault));
  const opened = await openVault(bytes, encryption, keys).catch(() => null);
  const recipients = opened?.target.recipients ?? [];
  const own = new Set(await ownRecipients(keys));
  if (recipients.length === 0 || recipients.some((recipient) => !own.has(recipient))) return [];
  return [
    {
      code: "VAULT_ONLY_YOURS",
      severity: "warning",
      path: "credentials.vault",
      message: "only your own key opens it: whoever gets the bundle cannot use its credentials",
      fix: `nutshell rotate --recipient "<age1… of whoever works on it>"${dir === undefined ? "" : ` --dir ${shellWord(dir)}`}`,
    },
  ];
}
