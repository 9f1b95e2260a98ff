import { command } from "../../../cli/command.js";
import { count } from "../../../cli/text.js";
import { DIR } from "../flags.js";
import { encryptionFlags, exportFlags, identityFlag, valueFlags } from "./credentials-flags.js";
import { credentialLines } from "./credentials-text.js";
import { type RotateResult, rotate } from "./rotate.js";

export default command(rotate, {
  positionals: [{ name: "name", about: "the credential to renew; without one, audit all", optional: true }],
  flags: {
    expires: { value: "<time>", about: "7d, 12h, a date or a time (default: 30d)" },
    replace: { about: "ask for a new value" },
    ...valueFlags,
    recipient: {
      short: "r",
      value: "<age1…>",
      many: true,
      field: "addRecipients",
      about: "also let this key open the vault",
    },
    "remove-recipient": {
      value: "<age1…>",
      many: true,
      field: "removeRecipients",
      about: "no longer let this key open it",
    },
    "re-encrypt": { about: "encrypt again, with fresh keys" },
    ...encryptionFlags,
    ...exportFlags,
    ...identityFlag,
    ...DIR,
  },
  about: [
    "Alone it audits: expired or unreadable is 1, everything else 0. Removing a recipient does not take back what they have seen: replace the values too.",
    "--export writes a small signed file. Whoever holds the bundle runs nutshell apply-rotation on it; the bundle is not published again.",
  ],
  examples: [
    ["nutshell rotate --dir my-task", "audit"],
    ["nutshell rotate staging-db --value-stdin --export new.rotation.json", "a new value for every holder"],
  ],
  text: rotateLines,
  exit: ({ saved, findings }) => (!saved && findings.some(({ severity }) => severity === "error") ? 1 : 0),
});

export function rotateLines(result: RotateResult): string[] {
  if (!result.saved) return credentialLines(result);
  const { changed, recipients, rotation } = result;
  return [
    changed === null
      ? `Encrypted again: ${result.vault}`
      : `${changed.state === "revoked" ? "Revoked" : "Renewed"}: ${changed.name}, expires ${changed.expires_at ?? "never"}`,
    ...(recipients.length === 0 ? [] : [`For: ${count(recipients.length, "recipient")}`]),
    ...(rotation === null ? [] : [`Rotation ${rotation.sequence}: ${rotation.path}`]),
  ];
}
