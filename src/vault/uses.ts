// The audit trail: which credential was handed out, when and for what; never its value. It lies in the bundle's own
// delivery/logs, outside the vault, because whoever receives the delivery must be able to read it.
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { appendInside } from "../files/index.js";

/** A type and not an interface, so that it fits the schema's open record. */
export type CredentialUse = {
  readonly name: string;
  readonly at: string;
  readonly purpose: string;
};

export const USES_PATH = "delivery/logs/credentials.jsonl";

/** One write for all lines; a torn last line of a killed process is closed first. Agents may have worked in `dir`. */
export function recordUses(dir: string, uses: readonly CredentialUse[]): void {
  if (uses.length === 0) return;
  const lines = uses.map(({ name, at, purpose }) => `${JSON.stringify({ name, at, purpose })}\n`).join("");
  appendInside(realpathSync(dir), USES_PATH, lines);
}

/** For a delivery's execution_log.credentials_used. Lines that are not records are left out. */
export function parseUses(text: string): CredentialUse[] {
  const uses: CredentialUse[] = [];
  for (const line of text.split("\n")) {
    try {
      const value = JSON.parse(line) as Partial<CredentialUse> | null;
      if (typeof value?.name === "string" && typeof value.at === "string") {
        uses.push({ name: value.name, at: value.at, purpose: typeof value.purpose === "string" ? value.purpose : "" });
      }
    } catch {
      // A torn line: the hand-out it stood for was cut off with it.
    }
  }
  return uses;
}

export function readUses(dir: string): CredentialUse[] {
  const path = join(dir, USES_PATH);
  // A pipe would be waited for.
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? parseUses(readFileSync(path, "utf8")) : [];
}
