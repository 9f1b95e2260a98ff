// Whether anybody but its author can open a vault. Only somebody with a key to it can tell.
import { type Content, resolveReference } from "../../bundle/index.js";
import { type Finding, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import { Endpoints } from "../../schema/endpoints.js";
import { type Keys, openVault } from "../../vault/index.js";
import { collectKeys, ownRecipients } from "./keys.js";
import { usesIn, useWords } from "./use-of-credential.js";

const openIfOurs = async (content: Content, path: string, encryption: string, keys: Keys) =>
  openVault(Buffer.from(await content.read(path)), encryption, keys).catch(() => null);

/** Which credentials are lent and which of their limits are only promises. Says nothing about a vault that does not open. */
export async function lendingFindings(content: Content, context: Context): Promise<Finding[]> {
  const { manifest } = content;
  const { vault: named, encryption = "age" } = manifest.credentials ?? {};
  const vault = named === undefined ? null : resolveReference(named);
  if (vault === null || encryption !== "age" || !content.files.has(vault)) return [];
  const keys = collectKeys([], { ...context, ask: null });
  const opened = keys.identities.length === 0 ? null : await openIfOurs(content, vault, encryption, keys);
  if (opened === null) return [];
  const spec = resolveReference(manifest.apis?.endpoints_spec ?? "apis/endpoints.json");
  const text =
    spec === null || !content.files.has(spec) ? "null" : Buffer.from(await content.read(spec)).toString("utf8");
  return [...usesIn(opened.vault, manifest, endpointsIn(text))].map(([name, use]) => ({
    code: use.use === "lent" && use.promised.length === 0 ? "CREDENTIAL_LENT" : "CREDENTIAL_ONLY_PROMISED",
    severity: "info",
    path: `credentials.scopes.${name}`,
    message: useWords(name, use),
  }));
}

function endpointsIn(text: string): Endpoints | null {
  try {
    return Endpoints.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

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
  const opened = await openIfOurs(content, vault, encryption, keys);
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
