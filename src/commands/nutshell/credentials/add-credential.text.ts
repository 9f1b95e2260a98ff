import { command } from "../../../cli/command.js";
import { count } from "../../../cli/text.js";
import { DIR } from "../flags.js";
import { addCredential } from "./add-credential.js";
import { encryptionFlags, identityFlag, valueFlags } from "./credentials-flags.js";

export default command(addCredential, {
  flags: {
    name: { short: "n", value: "<name>", about: "what the task calls it" },
    type: { short: "t", value: "<type>", about: "postgresql, bearer_token, ssh_key…" },
    scope: { value: "<word>", many: true, field: "scopes", about: "what it may do: read, write, invoke" },
    restrict: { value: "<key=value>", many: true, about: "a limit: tables=users,sessions" },
    expires: { value: "<time>", about: "7d, 12h, a date or a time (default: never)" },
    access: { value: "<level>", about: "access level shown in the manifest: read-write" },
    "rate-limit": { value: "<limit>", about: "such as 100/min" },
    recipient: { short: "r", value: "<age1…>", many: true, field: "recipients", about: "who may open the vault" },
    replace: { about: "replace a credential of the same name" },
    ...valueFlags,
    ...encryptionFlags,
    ...identityFlag,
    ...DIR,
  },
  about: [
    "The value is a text or a JSON object. It comes from a prompt that does not show it, a file, standard input or an environment variable; never from the command line, where every process could read it.",
  ],
  examples: [
    ["nutshell add-credential --name staging-db --type postgresql --expires 7d", "asks for the value"],
    ["pass show db | nutshell add-credential --name db --type password --value-stdin", "takes it from a pipe"],
  ],
  text: (added) => [
    `Added: ${added.name} (${added.type}) to ${added.vault}, ${added.encryption}`,
    `Expires: ${added.expires_at ?? "never"}`,
    ...(added.recipients.length === 0
      ? []
      : [`For: ${count(added.recipients.length, "recipient")}`, ...added.recipients.map((one) => `  ${one}`)]),
    ...(added.identity === undefined ? [] : [`Identity made: ${added.identity}`]),
    `Use: nutshell exec --with ${added.name} -- <command>  (${added.variables.map((name) => `$${name}`).join(" ")})`,
  ],
});
