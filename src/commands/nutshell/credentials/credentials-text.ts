import { bold, count, dim, green, red, table, yellow } from "../../../cli/text.js";
import type { CredentialList, CredentialRow } from "../../../request/vault/credential-list.js";
import type { RotateResult } from "../../../request/vault/rotation.js";
import { useWords } from "../../../request/vault/use-of-credential.js";

const STATES: Readonly<Record<CredentialRow["state"], string>> = {
  valid: green("valid"),
  expiring_soon: yellow("expiring soon"),
  expired: red("expired"),
  no_expiry: yellow("no expiry"),
  unreadable: red("unreadable expiry"),
  revoked: red("revoked"),
};

/** One row per credential, then what to do about them. Values are not known here. */
export function credentialLines(list: CredentialList): string[] {
  if (list.credentials.length === 0) return ["no credentials", ...(list.next === undefined ? [] : [dim(list.next)])];
  const head = ["name", "type", "access", "state", "expires"].map(dim);
  const rows = list.credentials.map((row) => [
    bold(row.name),
    row.type,
    row.access_level ?? "-",
    STATES[row.state],
    row.expires_at ?? "-",
  ]);
  const seen = list.vault === null ? "no vault" : list.opened ? list.vault : `${list.vault}, closed`;
  return [
    `${count(list.credentials.length, "credential")}, ${list.encryption ?? "not encrypted"} (${seen})`,
    ...(list.why_closed === undefined ? [] : [dim(`closed: ${list.why_closed}`)]),
    ...table([head, ...rows]),
    ...list.credentials.flatMap(restrictionLines),
    ...list.credentials.filter(({ state }) => state !== "revoked").map(({ name, lending }) => useWords(name, lending)),
    ...list.findings.map(
      ({ severity, message, fix }) =>
        `${severity === "error" ? red("✗") : yellow("!")} ${message}${fix === undefined ? "" : dim(`  ${fix}`)}`,
    ),
  ];
}

/** What a change did; without one, the audit. */
export function rotateLines(result: RotateResult): string[] {
  if (!result.saved) return credentialLines(result);
  const { changed, recipients, rotation } = result;
  return [
    changed === null
      ? `${result.encryption === "none" ? "Written in clear, for everyone who has the bundle" : "Encrypted again"}: ${result.vault}`
      : `${changed.state === "revoked" ? "Revoked" : "Renewed"}: ${changed.name}, expires ${changed.expires_at ?? "never"}`,
    ...(recipients.length === 0 || result.encryption === "none"
      ? []
      : [`For: ${count(recipients.length, "recipient")}`]),
    ...(rotation === null ? [] : [`Rotation ${rotation.sequence}: ${rotation.path}`]),
  ];
}

export function restrictionLines({ name, restrictions }: Pick<CredentialRow, "name" | "restrictions">): string[] {
  return Object.entries(restrictions ?? {}).map(([key, value]) => `${name}: only ${key} ${shown(value)}`);
}

function shown(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") : typeof value === "string" ? value : JSON.stringify(value);
}
